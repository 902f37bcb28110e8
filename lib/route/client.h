// A client of gt-route: one user and the program of this user. It holds where
// in the program the line at hand stands, the results that are owed in the
// order of the program's prints, which failures people were told of, and how
// the program went. gt-route has one client today, whose results go to standard
// output.
//
// What several clients would need besides: a ClientPipe and a Loops each, since
// both follow the lines of one client; names that cannot collide in Homes and
// RankTable, as the name spaces that gt-emit gives its clients cannot; and a
// Crew that knows which client a worker's report is about. The rest of a
// Dispatcher is shared by its clients: there is one order of all lines.
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
#include "route/homes.h"
#include "route/result_order.h"
#include "stream/marks.h"

namespace gt::route {

struct Client {
  using Say = std::function<void(std::string_view)>;
  // Of results that wait to be read, or for their turn.
  static constexpr uint64_t kMostResults = uint64_t{64} << 20;  // bytes

  // `to_say` gets messages for people, each whole. The sources outlive the
  // client.
  Client(ResultSources& sources, Say to_say)
      : results(sources), say(std::move(to_say)) {}

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
    if (!takes_reports) return say(report.text);
    reports += to_string(report) + "\n";
  }
  // Whether more of its program may be read: what it is owed, and what waits
  // for its turn, is bounded.
  bool has_credit() const { return results.bytes() <= kMostResults; }

  SourceLine source{std::make_shared<const std::string>(), 0};
  // All files so far, and the seq that the first line of each has at least.
  std::vector<std::pair<uint64_t, std::shared_ptr<const std::string>>> files;
  Marks marks;  // "#gt" and "#end" in the input
  ResultOrder results;
  Reported reported;  // failures that people were told of, by gt-route and by
                      // its workers
  Say say;
  bool takes_reports = false;
  std::string reports;        // that go out before any more results
  Exit status = Exit::kDone;  // of the program so far
  uint64_t lines = 0;         // instructions that came
  // Those of them that came in recognised rounds of a loop, and were therefore
  // not looked at (loops.h).
  uint64_t repeated = 0;
};

}  // namespace gt::route
