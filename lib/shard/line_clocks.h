// Computes when the lines of an order run, step after step. Times are in
// seconds from the start of the first step.
#pragma once

#include <cstdint>
#include <vector>

#include "program/rank_clocks.h"
#include "shard/schedule.h"

namespace gt::shard {

class LineClocks {
 public:
  explicit LineClocks(const std::vector<ScheduledLine>& lines);

  // The ranks of all lines, in ascending order. A rank's place is its index in
  // this list.
  const Ranks& ranks() const { return ranks_; }
  size_t place_of(int64_t rank) const { return *place_in(ranks_, rank); }

  // Returns when the rank at that place has finished all lines that were run.
  double free(size_t place) const { return clocks_.computed(ranks_[place]); }
  // Returns when all that the line needs is available: for a line that moves
  // values, at its senders; for any other, on its first rank. All lines that it
  // needs must have run.
  double ready_at(uint32_t line) const;
  // Runs the next line of the order.
  void run(uint32_t line);
  // Runs a line whose turn in the order is not known yet: which exchanges will
  // come before it is not known either.
  void run_ahead(uint32_t line);
  // Starts another step with the same lines. A rank that has finished the step
  // before starts it without waiting for the other ranks.
  void begin_step();

  // Returns when the last of all lines that were run has finished.
  double end() const { return end_; }
  // Returns the sum over all ranks of the seconds in which they computed.
  double busy() const { return busy_; }

 private:
  double last_end(uint32_t line) const;
  double ready_at(const ScheduledLine& line, int64_t rank) const;
  double arrival_ahead(uint32_t line) const;
  double compute(const ScheduledLine& line, int64_t rank);
  void note(uint32_t line, double end);

  const std::vector<ScheduledLine>& lines_;
  Ranks ranks_;
  RankClocks clocks_;
  // By line, then by its ranks: when the line finishes there in this step.
  std::vector<std::vector<double>> ends_;
  double end_ = 0;
  double busy_ = 0;
};

}  // namespace gt::shard
