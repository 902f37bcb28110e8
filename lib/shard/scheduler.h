// The last part of gt-shard if the config has a schedule: it passes the placed
// lines on in the order of the schedule.
//
// The first line of a microbatch (#mb=) opens a window, which holds lines back.
// The window closes, and its lines leave in their new order, before any line
// that must not be ordered with it: a line of no microbatch that reads from the
// window and binds anew what its microbatches read, as an optimizer does, a
// print, a save, a grad, a declaration, a line without ranks, or a line with a
// glob. It also closes before a #sync, at the end of the stream, and when it is
// full. A line of no microbatch joins the window if it binds or frees a name of
// the window, or if it reads from the window and leaves its microbatches what
// they read, or gt-emit or gt-shard wrote it for another line. Any other line
// of no microbatch leaves at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "shard/config.h"
#include "shard/line_order.h"
#include "shard/window.h"
#include "spmd/machine.h"
#include "stream/line.h"

namespace gt::shard {

// The costs of all lines so far.
struct ScheduleCosts {
  uint64_t windows = 0;
  size_t most_microbatches = 0;  // the most microbatches of one window
  // The time of all windows, by the machine of the config. A rank begins a
  // window as soon as it has finished the one before (Order::period).
  double seconds = 0;
  double between = 0;       // the seconds of lines of no window, added up
  double busy = 0;          // seconds in which ranks compute, all together
  int64_t ranks = 0;        // in the window with the most
  int64_t stages = 0;       // in the window with the most
  int64_t most_open = 0;    // the most units open on a rank (schedule.h)
  int64_t most_parts = 0;   // the most chunks of the model on a rank
  bool comes_back = false;  // the last chunk is on the rank of the first

  // Adds once more the windows that came between `from` and `to`.
  void repeat(const ScheduleCosts& from, const ScheduleCosts& to) {
    windows += to.windows - from.windows;
    seconds += to.seconds - from.seconds;
    between += to.between - from.between;
    busy += to.busy - from.busy;
  }
};

// Returns the number of the line's microbatch, or -1 if it has none.
int64_t microbatch_of(const Line& line);

// Error: the line has a note #mb= that is not a whole number from 0 up. The
// scheduler takes such a line for one of no microbatch.
Status check_microbatch(std::string_view text);

// What is done about the first line that closes a window although microbatches
// go on behind it.
struct OnEarlyEnd {
  std::function<std::string(std::string_view line)> place_of;
  // `microbatch` is the first behind the line.
  std::function<void(const std::string& place, const std::string& line,
                     int64_t microbatch)>
      say;
};

class Scheduler final : public LineOrder {
 public:
  Scheduler(const Schedule& schedule, const Machine& machine,
            OnEarlyEnd on_early_end)
      : LineOrder(machine),
        schedule_(schedule),
        on_early_end_(std::move(on_early_end)) {}

  void take(std::string_view lines, std::string& out) override;
  void take_round(std::string_view lines, std::string& out) override;
  void finish(std::string& out) override { close(out); }

  const ScheduleCosts& costs() const { return costs_; }

 private:
  // A window with this many lines, or bytes of text, is full.
  static constexpr size_t kMostLines = size_t{1} << 17;
  static constexpr size_t kMostBytes = size_t{1} << 26;

  void take_line(std::string_view text, std::string& out) override;
  bool belongs(const Line& line) const;
  void close_before(std::string_view text, std::string& out);
  void check_end(int64_t microbatch);
  void close(std::string& out);

  const Schedule schedule_;
  const OnEarlyEnd on_early_end_;
  Window window_;
  size_t bytes_ = 0;  // bytes of the window's text
  ScheduleCosts costs_;
  // The line that closed the last window, if no microbatch came since.
  struct End {
    std::string text, place;
    int64_t first_microbatch = -1;  // of that window
    bool is_told = false;           // this is told once
  };
  End end_;
  // The last input if it was a round, with its output and the costs before and
  // after it.
  struct Round {
    std::string lines, out;
    ScheduleCosts before, after;
    bool is_steady = false;  // same output as the round before
  };
  Round round_;
};

}  // namespace gt::shard
