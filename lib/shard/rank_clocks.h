// When the lines of an order run: a clock for each rank, which computes one
// line after the other. Times are in seconds from the beginning of the first
// step.
#pragma once

#include <cstdint>
#include <vector>

#include "shard/schedule.h"

namespace gt::shard {

class RankClocks {
 public:
  explicit RankClocks(const std::vector<ScheduledLine>& lines);

  // The ranks of all lines, ascending. Elsewhere a rank is told by its place
  // here.
  const Ranks& ranks() const { return ranks_; }
  size_t place_of(int64_t rank) const { return *place_in(ranks_, rank); }

  // When a rank is done with what it was given.
  double free(size_t place) const { return free_[place]; }
  // When what the line needs is there; of a line on several ranks, on the
  // first. All lines that it needs have run.
  double ready_at(uint32_t line) const;
  // The line is the next of the order.
  void run(uint32_t line);
  // The same lines come once more, as another step. Ranks go on without waiting
  // for each other.
  void begin_step();

  // When the last line of the step is done.
  double end() const { return end_; }
  // The seconds in which ranks computed, added up.
  double busy() const { return busy_; }

 private:
  double last_end(uint32_t line) const;
  double ready_at(const ScheduledLine& line, int64_t rank) const;

  const std::vector<ScheduledLine>& lines_;
  Ranks ranks_;
  std::vector<double> free_;  // by place
  // By line and then by its ranks: when it is done there in this step.
  std::vector<std::vector<double>> ends_;
  double end_ = 0;
  double busy_ = 0;
};

}  // namespace gt::shard
