// The client of gt-route: whoever feeds it the stream, and gets the results on
// standard output. It holds where in the stream the line at hand stands, the
// results that are owed, which failures people were told of, and how the
// program went. If the client serves many users, as gt-emit -l does, users.h
// tells them apart.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/exit.h"
#include "base/reported.h"
#include "route/client_records.h"
#include "route/homes.h"
#include "route/users.h"
#include "stream/marks.h"

namespace gt::route {

struct Client {
  using Say = std::function<void(std::string_view)>;
  // Of results that wait to be read, or for their turn.
  static constexpr uint64_t kMostResults = uint64_t{64} << 20;  // bytes

  // `to_say` gets messages for people, each whole. The sources outlive the
  // client.
  Client(ResultSources& sources, Say to_say)
      : users(sources), say(std::move(to_say)) {}

  // The lines from now on, the first of which will have that seq at least, are
  // of that file, named as the user did.
  void set_file(std::string_view name, uint64_t seq) {
    source = {std::make_shared<const std::string>(name), 0};
    files.emplace_back(seq, source.file);
  }
  // The file of the line with that seq; "" before the first.
  std::string_view file_at(uint64_t seq) const {
    std::string_view name;
    for (const auto& [first, file] : files) {
      if (first <= seq) name = *file;
    }
    return name;
  }
  void worsen(Exit with) { status = worst(status, with); }
  // Tells people of a line: on standard error, or among the results if the
  // program asks for that ("#reports", stream/marks.h).
  void tell(const ReportMark& report) {
    if (!users.is_split()) return say(report.text);
    reports += to_string(report) + "\n";
  }
  // Whether more of its program may be read: what it is owed, and what waits
  // for its turn, is bounded.
  bool has_credit() const { return users.bytes() <= kMostResults; }

  SourceLine source{std::make_shared<const std::string>(), 0};
  // All files so far, and the seq that the first line of each has at least.
  std::vector<std::pair<uint64_t, std::shared_ptr<const std::string>>> files;
  Marks marks;            // "#gt" and "#end" in the input
  Users users;            // who are owed results
  ClientRecords told_of;  // who gt-emit says that they are
  Reported reported;  // failures that people were told of, by gt-route and by
                      // its workers
  Say say;
  std::string reports;        // that go out before any more results
  Exit status = Exit::kDone;  // of the program so far
  uint64_t lines = 0;         // instructions that came
  // Those of them that came in recognised rounds of a loop, and were therefore
  // not looked at (loops.h).
  uint64_t repeated = 0;
};

}  // namespace gt::route
