// The client of gt-route: whoever feeds it the stream, and gets the results on
// standard output. A Client holds the place of the current line in the stream,
// the results that are owed, the failures that people were told of, and the
// status of the program. If the client serves many users, as gt-emit -l does,
// users.h tells them apart.
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
#include "route/users.h"
#include "route/value_locations.h"
#include "stream/marks.h"

namespace gt::route {

struct Client {
  using Say = std::function<void(std::string_view)>;
  // The most bytes of results that wait to be read, or for their turn.
  static constexpr uint64_t kMostResults = uint64_t{64} << 20;  // bytes

  // `to_say` gets whole messages for people. The sources must outlive the
  // client.
  Client(ResultSources& sources, Say to_say)
      : users(sources), say(std::move(to_say)) {}

  // Says that the following lines are from the file `name`, as the user spells
  // it; their seqs are `seq` or more.
  void set_file(std::string_view name, uint64_t seq) {
    source = {std::make_shared<const std::string>(name), 0};
    files.emplace_back(seq, source.file);
  }
  // Returns the file of the line with that seq; "" before the first file.
  std::string_view file_at(uint64_t seq) const {
    std::string_view name;
    for (const auto& [first, file] : files) {
      if (first <= seq) name = *file;
    }
    return name;
  }
  void worsen(Exit with) { status = worst(status, with); }
  // Tells people about a failed line: on standard error, or among the results
  // if the program asks for that ("#reports", stream/marks.h).
  void tell(const ReportMark& report) {
    if (!users.is_split()) return say(report.text);
    reports += to_string(report) + "\n";
  }
  // True if more of the program may be read: the results that are owed or wait
  // for their turn are bounded.
  bool has_credit() const { return users.bytes() <= kMostResults; }

  SourceLine source{std::make_shared<const std::string>(), 0};
  // All files so far, each with a lower bound of the seqs of its lines.
  std::vector<std::pair<uint64_t, std::shared_ptr<const std::string>>> files;
  Marks marks;            // "#gt" and "#end" in the input
  Users users;            // the results owed to each user
  ClientRecords told_of;  // what gt-emit says of its clients
  // The failures that people were told of, by gt-route or by workers.
  Reported reported;
  Say say;
  std::string reports;        // reports that go out before any more results
  Exit status = Exit::kDone;  // status of the program so far
  uint64_t lines = 0;         // instructions that came
  // The instructions that came in recognised rounds of a loop, and were
  // therefore not looked at (loops.h).
  uint64_t repeated = 0;
};

}  // namespace gt::route
