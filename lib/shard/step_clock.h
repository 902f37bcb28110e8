// Finds when the lines of a placed stream are done, on ranks that compute and
// receive at the same time. A rank runs its lines in the order of the stream,
// one after the other. A line that moves values takes no time of the ranks: it
// begins when its senders have the values and its receivers have come to it,
// and a rank receives one value after the other. That is what RankClocks
// (program/rank_clocks.h) expects of the lines of a window, but for the links,
// and without keeping lines, so that a stream may be long. Ranks that occur in
// the same lines share their clocks (rank_classes.h).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "program/line_sizes.h"
#include "shard/rank_classes.h"
#include "spmd/machine.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt::shard {

class StepClock {
 public:
  explicit StepClock(const Machine& machine) : sizes_(machine) {}

  // Takes placed lines, each with LF. What has no ranks takes no time.
  void take(std::string_view lines);
  // Returns when all lines so far are done, in seconds.
  double end() const { return end_; }
  // Returns how many lines had results whose size is not known. They took no
  // time.
  size_t unknown() const { return unknown_; }

 private:
  struct Clock {
    double computes = 0;  // when it has computed all that it came to
    double receives = 0;  // when all that it receives has arrived
  };
  // When a value is there, by class of ranks.
  using Times = std::vector<std::pair<uint32_t, double>>;

  void take_line(const Line& line, const LineRanks& where);
  const std::vector<uint32_t>& classes_of(const Ranks& ranks);
  const Times* times_of(std::string_view name) const;
  void bind(const Line& line, uint32_t at, double time);
  double move(const Line& line, const LineRanks& where, double seconds);
  double compute(const Line& line, uint32_t at, double seconds);

  LineSizes sizes_;
  RankClasses classes_;
  std::vector<Clock> clocks_;  // by class
  std::unordered_map<std::string, Times, TextHash, std::equal_to<>> names_;
  double end_ = 0;
  size_t unknown_ = 0;
};

}  // namespace gt::shard
