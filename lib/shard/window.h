// A window holds the lines of a pipeline's microbatches that are ordered
// together (schedule.h), and finds the names under which they are then written.
//
// In the program each microbatch binds the same names again. In another order a
// value must not be overwritten before its last reader has run. So if a name is
// bound again within the window, its earlier values are written under names of
// their own (_sm0) and freed after their last readers. The last value of a name
// keeps the name. So does a sum that grows from microbatch to microbatch.
//
// Ranks that occur in the same lines do the same at the same times. So the
// first of each class of such ranks (rank_classes.h) stands for all of them
// while the order and the names are found.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/number_pool.h"
#include "program/line_sizes.h"
#include "shard/config.h"
#include "shard/rank_classes.h"
#include "shard/register_bytes.h"
#include "shard/schedule.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt::shard {

// An operand or result of a line that is a name.
struct WindowPart {
  uint32_t place = 0;  // the index among the line's operands or results
  uint32_t name = 0;   // the name's number in the window
  Ranks ranks;
  // Of a result: all ranks that have it, also when `ranks` are only the first
  // ones of their classes, and the bytes on each.
  Ranks held_on;
  std::vector<uint64_t> bytes;
};

struct WindowLine {
  std::string text;
  bool is_free = false;
  bool says_microbatch = false;  // by its note #mb=
  // The line's operands; of a free, what it frees.
  std::vector<WindowPart> reads;
  std::vector<WindowPart> writes;
  // The name in its note #grad=: the line makes the gradient of what it holds.
  std::optional<uint32_t> target;
  ScheduledLine line;
};

class Window {
 public:
  bool is_empty() const { return lines_.empty(); }
  size_t size() const { return lines_.size(); }
  // The first returns how many microbatches have lines in the window; the
  // second returns true if this one has.
  size_t microbatches() const { return microbatches_.size(); }
  bool has_microbatch(int64_t number) const {
    return microbatches_.count(number) > 0;
  }
  int64_t first_microbatch() const {
    return microbatches_.empty() ? -1 : *microbatches_.begin();
  }

  // The first returns true if the line reads a name that a line of the window
  // binds, or makes a gradient of what such a name holds (#grad=); the second,
  // if it binds or frees a name that a line of the window reads or binds.
  bool is_read_by(const Line& line) const;
  bool is_changed_by(const Line& line) const;
  // Returns true if the line binds or frees a name that a line of a microbatch
  // reads or binds, by its note #mb=.
  bool is_microbatch_changed_by(const Line& line) const;

  // Adds the next line of the program. `where` says on which ranks it runs; the
  // line must have ranks, and must not be a declaration or an output.
  // `microbatch` is the number in its note #mb=, or -1 if it has none. Then, if
  // a microbatch reads what it makes, it belongs to the microbatch of what it
  // reads, or if it reads nothing, to that of its first reader.
  void add(std::string_view text, const Line& line, const LineRanks& where,
           int64_t microbatch, LineSize size);

  // Finds the order of the lines, appends them to `out` in this order, notes in
  // `memory` what they bind and free, and empties the window.
  Order close(const ScheduleKind& kind, RegisterBytes& memory,
              std::string& out);

 private:
  uint32_t number_of(std::string_view name);
  RankClasses keep_first_ranks();
  double busy_seconds() const;
  void find_microbatches();
  void find_backward();

  std::vector<WindowLine> lines_;
  std::set<int64_t> microbatches_;
  struct Named {
    std::string text;
    bool is_bound = false;          // a line of the window binds it
    bool is_of_microbatch = false;  // a line with #mb= reads or binds it
  };
  template <typename Wanted>
  bool changes(const Line& line, const Wanted& is_wanted) const;

  std::vector<Named> names_;
  // Index in names_ by name.
  std::unordered_map<std::string, uint32_t> numbers_;
  NumberPool invented_;
};

}  // namespace gt::shard
