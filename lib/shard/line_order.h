// The last part of gt-shard, for configs that want one: it takes the placed
// lines in the order of the program and passes them on in another one.
// Scheduler orders microbatches, and GathersAhead moves gathers to earlier
// places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "program/line_sizes.h"
#include "shard/register_bytes.h"
#include "spmd/machine.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt::shard {

class LineOrder {
 public:
  explicit LineOrder(const Machine& machine) : sizes_(machine) {}
  virtual ~LineOrder() = default;

  // Takes lines, each with LF, and appends to `out` the lines that leave.
  virtual void take(std::string_view lines, std::string& out) = 0;
  // Does the same for a round of a loop (stream/replay.h), after which all
  // names hold what they held before it. If a round gave the same output twice,
  // one time after the other, it will give it again, so that output is then
  // repeated.
  virtual void take_round(std::string_view lines, std::string& out) = 0;
  // Appends the lines that are held back. To be called at the end of the
  // stream, and before lines that must not be ordered.
  virtual void finish(std::string& out) = 0;

  // Returns the most bytes that a rank held at a time, of all lines that have
  // left.
  uint64_t peak_bytes() const { return memory_.most(); }

 protected:
  // Hands each of these lines, each with LF, to take_line().
  void take_lines(std::string_view lines, std::string& out);
  // Takes a line without its LF.
  virtual void take_line(std::string_view text, std::string& out) = 0;
  // Appends a line that runs on these ranks, and notes what it holds and frees.
  // Returns the seconds that it takes.
  double pass(std::string_view text, const Line& line,
              const Result<LineRanks>& ranks, std::string& out);

  LineSizes sizes_;
  RegisterBytes memory_;
};

// Returns true if no line may be held back beyond this one: the line shows what
// was computed, or its names alone do not tell what it depends on.
bool ends_order(const Line& line);

}  // namespace gt::shard
