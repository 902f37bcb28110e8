// The parts of a pipeline that a schedule (schedule.h) bounds: chunks of the
// model, and units, the forward lines of one microbatch within one chunk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
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
// rank (schedule.h). A forward line that computes opens its unit; what moved to
// the rank belongs to the unit that reads it, and does not open it.
class Units {
 public:
  Units(const std::vector<ScheduledLine>& lines, const Chunks& chunks,
        const ScheduleKind& kind);

  // Returns the number of the unit that a line opens; kNoIndex: none.
  uint32_t of(uint32_t line) const { return of_[line]; }
  // True if the line would open a unit too many on its rank: as many are open
  // as the kind of the schedule allows, or then no microbatch could go through
  // the rank's later chunks any more, so that none would ever be closed.
  bool is_blocked(uint32_t line) const {
    if (of_[line] == kNoIndex || units_[of_[line]].is_open) return false;
    const Unit& unit = units_[of_[line]];
    const Rank& here = ranks_.at(unit.rank);
    const int64_t left = here.bound - here.all_open() - 1;
    return left < here.last() - std::max(unit.level, here.deepest_open());
  }
  // Notes that the line runs. Calls f(rank) for each unit that it opens or
  // closes.
  template <typename F>
  void run(uint32_t line, F&& f) {
    if (of_[line] != kNoIndex && open(units_[of_[line]])) {
      f(units_[of_[line]].rank);
    }
    for (const uint32_t u : closes_[line]) {
      Unit& unit = units_[u];
      if (--unit.left > 0) continue;
      --ranks_[unit.rank].open[static_cast<size_t>(unit.level)];
      f(unit.rank);
    }
  }

  int64_t stages() const { return stages_; }
  int64_t most_open() const { return most_open_; }
  int64_t most_parts() const { return most_parts_; }
  // Returns true if a rank has the model's first chunk and its last.
  bool comes_back() const {
    return std::any_of(ranks_.begin(), ranks_.end(), [this](const auto& at) {
      const std::set<int64_t>& chunks = at.second.chunks;
      return chunks_ > 1 && chunks.count(0) > 0 &&
             chunks.count(chunks_ - 1) > 0;
    });
  }

 private:
  struct Unit {
    int64_t rank = 0;
    int64_t chunk = 0;
    int64_t level = 0;  // how many chunks the rank has before this one
    bool is_open = false;
    // Lines of it, and lines that descend from it, which are still to run.
    size_t left = 0;
  };
  struct Rank {
    std::set<int64_t> chunks;
    std::vector<int64_t> open;  // units, by their levels
    int64_t bound = 0;

    int64_t last() const { return static_cast<int64_t>(open.size()) - 1; }
    int64_t all_open() const {
      return std::accumulate(open.begin(), open.end(), int64_t{0});
    }
    int64_t deepest_open() const {
      int64_t level = last();
      while (level >= 0 && open[static_cast<size_t>(level)] == 0) --level;
      return level;
    }
  };

  bool open(Unit& unit) {
    if (unit.is_open) return false;
    unit.is_open = true;
    Rank& here = ranks_[unit.rank];
    ++here.open[static_cast<size_t>(unit.level)];
    most_open_ = std::max(most_open_, here.all_open());
    return true;
  }
  void find(const std::vector<ScheduledLine>& lines, const Chunks& chunks);
  void find_ends(const std::vector<ScheduledLine>& lines, const Chunks& chunks);
  void set_bounds(const ScheduleKind& kind);

  std::vector<uint32_t> of_;  // by line
  // By line: the units that stay open until it has run.
  std::vector<std::vector<uint32_t>> closes_;
  std::vector<Unit> units_;
  // By microbatch, chunk and rank: the number of the unit.
  std::map<std::tuple<int64_t, int64_t, int64_t>, uint32_t> numbers_;
  std::map<int64_t, Rank> ranks_;
  int64_t chunks_ = 0;
  int64_t stages_ = 0;
  int64_t most_parts_ = 1;
  int64_t most_open_ = 0;
};

}  // namespace gt::shard
