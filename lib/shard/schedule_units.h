// The parts of a pipeline that a schedule (schedule.h) bounds: chunks of the
// model, and units, the forward lines of one microbatch within one chunk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "shard/schedule.h"

namespace gt::shard {

// Assigns each line to a chunk of the model. A line's chunk is the number of
// times that its microbatch moved to other ranks before the line, counted
// separately for the forward and the backward pass. A line that reads nothing
// of its microbatch belongs to the chunk of the first line that reads it.
class Chunks {
 public:
  explicit Chunks(const std::vector<ScheduledLine>& lines);

  int64_t of(uint32_t line) const { return of_[line]; }
  int64_t count() const { return count_; }

  // True if the line moves its microbatch to ranks where it was not.
  static bool leaves(const ScheduledLine& line) {
    return line.moves() && common(line.ranks, line.senders).empty();
  }

 private:
  void count_moves(const std::vector<ScheduledLine>& lines);
  void join_readers(const std::vector<ScheduledLine>& lines);

  std::vector<int64_t> of_;
  int64_t count_ = 0;
};

// Finds the units of all forward lines, and counts how many are open on each
// rank: a unit is open from its first line until the last line of its
// microbatch that reads from it.
class Units {
 public:
  Units(const std::vector<ScheduledLine>& lines, const Chunks& chunks,
        const ScheduleKind& kind);

  // Returns the number of a forward line's unit, and kNoIndex for other lines.
  uint32_t of(uint32_t line) const { return of_[line]; }
  // True if the line would open a unit on a rank that has as many open as the
  // kind of the schedule allows.
  bool is_blocked(uint32_t line) const {
    if (of_[line] == kNoIndex || units_[of_[line]].is_open) return false;
    const Rank& here = ranks_.at(units_[of_[line]].rank);
    return here.open >= here.bound;
  }
  // Notes that the line runs. Calls f(rank) for each unit that it closes.
  template <typename F>
  void run(uint32_t line, F&& f) {
    if (of_[line] != kNoIndex) open(units_[of_[line]]);
    for (const uint32_t u : closes_[line]) {
      Unit& unit = units_[u];
      if (--unit.left > 0) continue;
      --ranks_[unit.rank].open;
      f(unit.rank);
    }
  }

  int64_t stages() const { return stages_; }
  int64_t most_open() const { return most_open_; }

 private:
  struct Unit {
    int64_t rank = 0;
    bool is_open = false;
    // Lines of it, and lines that read from it, which are still to run.
    size_t left = 0;
  };
  struct Rank {
    std::set<int64_t> chunks;
    int64_t open = 0;
    int64_t bound = 0;
  };

  void open(Unit& unit) {
    if (unit.is_open) return;
    unit.is_open = true;
    most_open_ = std::max(most_open_, ++ranks_[unit.rank].open);
  }
  void find(const std::vector<ScheduledLine>& lines, const Chunks& chunks);
  void count_readers(const std::vector<ScheduledLine>& lines);
  void set_bounds(const ScheduleKind& kind);

  std::vector<uint32_t> of_;  // by line
  // By line: the units that stay open until it has run.
  std::vector<std::vector<uint32_t>> closes_;
  std::vector<Unit> units_;
  std::map<int64_t, Rank> ranks_;
  int64_t chunks_ = 0;
  int64_t stages_ = 0;
  int64_t most_open_ = 0;
};

}  // namespace gt::shard
