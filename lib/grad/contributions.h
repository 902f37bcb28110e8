// The gradient of each value while it is put together from contributions, one
// for each operand through which the value reaches the loss.
//
// Two contributions to one value are added at once, by a line "add", on the
// ranks where both lie; on other ranks they stand side by side, so that the
// gradient of a value may have several parts.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grad/gradient_lines.h"

namespace gt::grad {

class Contributions {
 public:
  Contributions(const Tape& tape, GradientLines& lines)
      : tape_(tape), lines_(lines) {}

  // Begins the lines of another node. What earlier lines give may be part of
  // other gradients; what the lines from here on give is not yet, so they may
  // still get a note (GradientLines::owe).
  void begin_node() { fresh_from_ = lines_.count(); }

  // Adds a contribution on `ranks` (ascending; none: unplaced). First it is
  // brought to the value's own shape and dtype: summed over the dimensions that
  // broadcasting added or stretched, reshaped, cast. The lines for that are
  // added under `mesh`.
  void add(ValueId value, const GradientOperand& operand, const Ranks& ranks,
           MeshId mesh);

  bool has(ValueId value) const { return parts_.count(value) > 0; }
  // ranks() returns the ranks that have a gradient; parts() returns the
  // gradient by its parts, which have no rank in common.
  Ranks ranks(ValueId value) const;
  const std::vector<HandleOnRanks>& parts(ValueId value) const;
  // Returns the gradient as one value on all ranks of the place, with zeros
  // where there is none, and adds the lines that join its parts if that takes
  // some. The value must have a gradient on some rank.
  Handle read(ValueId value, const LinePlace& place);
  void erase(ValueId value) { parts_.erase(value); }

 private:
  using Parts = std::vector<HandleOnRanks>;

  void put(Parts& parts, Handle handle, Ranks ranks, MeshId mesh);
  std::vector<HandleOnRanks> fit(ValueId value, const GradientOperand& operand,
                                 const Ranks& ranks, MeshId mesh);
  std::optional<std::vector<int64_t>> whole_axes(const GradientOperand& operand,
                                                 TypeId wanted) const;
  Handle settle(ValueId value, Handle handle, const LinePlace& place);

  const Tape& tape_;
  GradientLines& lines_;
  std::unordered_map<ValueId, Parts> parts_;
  std::unordered_set<Handle> given_;  // handles that are some value's gradient
  size_t fresh_from_ = 0;             // the index of the node's first line
};

}  // namespace gt::grad
