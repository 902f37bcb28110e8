// The gradient of each value while it is put together.
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

  // A node's lines begin: what they give is nobody's yet.
  void begin_node() { fresh_from_ = lines_.count(); }

  // Adds a contribution on `ranks` (ascending; none: unplaced), which is fit to
  // the value's types first. Lines are made under the place's mesh.
  void add(ValueId value, const GradientOperand& operand, const Ranks& ranks,
           MeshId mesh);

  bool has(ValueId value) const { return parts_.count(value) > 0; }
  // Where there is one.
  Ranks ranks(ValueId value) const;
  const std::vector<HandleOnRanks>& parts(ValueId value) const;
  // The gradient under one name on all ranks of the place; zeros where there is
  // none. Needs some of it.
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
  std::unordered_set<Handle> given_;
  size_t fresh_from_ = 0;
};

}  // namespace gt::grad
