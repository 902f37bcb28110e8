// One user of a gt-route: which line of whose program is at hand, the results
// that it is owed in the order of its prints, what it was told, and how its
// program went. gt-route has one client today, the reader of its standard
// output.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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

  // `to_say` gets whole messages for people.
  Client(ResultSources& sources, Say to_say)
      : results(sources), say(std::move(to_say)) {}

  // Later lines are of that file, as the user named it.
  void set_file(std::string_view name) {
    source = {std::make_shared<const std::string>(name), 0};
  }
  void worsen(Exit with) { status = worst(status, with); }
  // Whether more of its program may be read: what it is owed, and what waits
  // for its turn, is bounded.
  bool has_credit() const { return results.bytes() <= kMostResults; }

  SourceLine source{std::make_shared<const std::string>(), 0};
  Marks marks;
  ResultOrder results;
  Reported reported;  // failures that people have been told of, here and by
                      // workers
  Say say;
  Exit status = Exit::kDone;
  uint64_t lines = 0;     // instructions that came
  uint64_t repeated = 0;  // of these, in rounds that nobody looked at
};

}  // namespace gt::route
