// What ranks do in a step of a loop, as it was expected or as it ran.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stream/line.h"

namespace gt::log {

// The seconds of a rank.
struct RankTimes {
  double compute = 0;
  double exchange = 0;  // sending and receiving, perhaps while it computes
};

// All times are those of one step, in seconds.
struct StepTimes {
  size_t steps = 0;  // of so many this is the mean; 0: no step was told
  double step = 0;   // or, if no step was told, from the beginning to the end
  std::map<int64_t, RankTimes> ranks;
};

// The first third of the steps, in which queues fill and values are first sent,
// is left out. The others are those from the end of step `first` to that of
// step `last`, by their indices.
struct StepWindow {
  explicit StepWindow(size_t ends)
      : last(std::max<size_t>(ends, 1) - 1), first(last / 3) {}
  size_t steps() const { return last - first; }
  size_t last, first;
};

// Returns the name under which a print writes its result.
inline std::string printed_name(const Line& print) {
  if (const std::string_view* as = print.key("as")) return unquote(*as);
  return std::string(print.operands.empty() ? "" : print.operands[0].text);
}

}  // namespace gt::log
