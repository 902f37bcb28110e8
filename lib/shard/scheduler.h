// The last part of gt-shard where the config has a schedule: takes the placed
// lines in the order of the program and lets them out in that of the schedule.
//
// The first line of a microbatch (#mb=) opens a window. It closes before the
// first line of no microbatch that reads what a line of the window made, before
// a print, a save, a declaration or a line without ranks, at the end, or when
// it is full. A line of no microbatch that has nothing to do with the window
// leaves at once; one that binds a name of the window, or frees one, joins it,
// as do lines that gt-emit and gt-shard write for others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "program/walker.h"
#include "shard/config.h"
#include "shard/window.h"
#include "spmd/machine.h"
#include "stream/line.h"

namespace gt::shard {

// What the windows so far came to.
struct ScheduleCosts {
  uint64_t windows = 0;
  size_t most_microbatches = 0;  // of one window
  // Of all windows, by the machine of the config. One window begins before the
  // last one ends, rank by rank (Order::period).
  double seconds = 0;
  double busy = 0;        // in which ranks compute, of all together
  int64_t ranks = 0;      // of the window with the most
  int64_t stages = 0;     // of the window with the most
  int64_t most_open = 0;  // units on one rank (schedule.h)

  // The same windows as between these two came once more.
  void repeat(const ScheduleCosts& from, const ScheduleCosts& to) {
    windows += to.windows - from.windows;
    seconds += to.seconds - from.seconds;
    busy += to.busy - from.busy;
  }
};

class Scheduler {
 public:
  Scheduler(const Schedule& schedule, const Machine& machine)
      : schedule_(schedule), machine_(machine) {}

  // Takes lines with LF and appends to `out` those that leave.
  void take(std::string_view lines, std::string& out);
  // The same for a round of a loop (stream/replay.h), after which names hold
  // what they held before it. A round that gave the same lines twice, one after
  // the other, gives them again.
  void take_round(std::string_view lines, std::string& out);
  // Appends the lines that are held: at the end of the stream, and before lines
  // that are not to be put in order.
  void finish(std::string& out) { close(out); }

  const ScheduleCosts& costs() const { return costs_; }
  // The most bytes that a rank holds at a time, of all that left so far.
  uint64_t peak_bytes() const { return memory_.most(); }

 private:
  // The lines, and the bytes of text, with which a window is full.
  static constexpr size_t kMostLines = size_t{1} << 17;
  static constexpr size_t kMostBytes = size_t{1} << 26;

  void take_lines(std::string_view lines, std::string& out);
  void take_line(std::string_view text, std::string& out);
  bool belongs(const Line& line) const;
  LineSize size_of(const Line& line, const LineRanks& where);
  void pass(std::string_view text, const Line& line, const LineRanks& where,
            std::string& out);
  void close(std::string& out);

  const Schedule schedule_;
  const Machine machine_;
  Walker walker_;
  Window window_;
  RegisterBytes memory_;
  size_t bytes_ = 0;  // of the window's text
  ScheduleCosts costs_;
  // The last thing that was taken, if it was a round.
  struct Round {
    std::string lines, out;
    ScheduleCosts before, after;
    bool is_steady = false;  // it gave the same as the one before
  };
  Round round_;
};

}  // namespace gt::shard
