// The ways in which a line can be taken on one axis of the mesh: what its op's
// index rule (ops/index_rule.h) and its linearity (spmd/join.h) make legal. One
// is always there: the axis cuts nothing, and each rank along it computes the
// whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/index_rule.h"
#include "shard/plan.h"

namespace gt::shard {

// What an axis does in a line: it cuts a label, which is one index of the op's
// index rule, in all tensors that have it, or nothing; and some arguments and
// results are summands (P) on it.
struct AxisUse {
  int label = -1;    // its index among the line's; -1: none
  int64_t unit = 1;  // coordinates of the label that stay together
  // Which of the arguments, and of the results, are summands: a byte each, as
  // vector<bool> takes long to fill.
  std::vector<uint8_t> partial_arguments, partial_results;
  std::string what;  // for people, "x.0 w.1 cut", "summands", "whole"
};
using AxisUses = std::vector<AxisUse>;  // by axis

// "max" or "min" if the use cuts the dimension over which the results are the
// maximum or minimum, so that each rank finds that of its part; else "".
std::string_view extreme_of(const AxisUse& use,
                            const std::vector<Label>& labels);

class Candidates {
 public:
  Candidates(const Cluster& cluster, const PlannedLine& line,
             const std::vector<Label>& labels)
      : cluster_(cluster), line_(line), call_(line.call), labels_(labels) {}

  // A label is only cut where an operand or the config cuts it already. The
  // last one is none().
  std::vector<AxisUse> of(size_t axis) const;
  // The axis cuts nothing, and there are no summands.
  AxisUse none() const;

 private:
  int64_t unit_at(const Layout& layout, size_t axis, const LabelDim& place,
                  const Shape& shape) const;
  int64_t wanted_unit(size_t axis, const Label& label) const;
  void cut_label(size_t axis, size_t l, std::vector<AxisUse>& out) const;
  std::string describe(const Label& label) const;
  bool has_summands(size_t axis, size_t i) const;
  void keep_summands(size_t axis, std::vector<AxisUse>& out) const;
  bool narrows() const;
  void try_summands(size_t axis, std::optional<std::string_view> set,
                    std::vector<AxisUse>& out) const;

  const Cluster& cluster_;
  const PlannedLine& line_;
  const Call& call_;
  const std::vector<Label>& labels_;
};

}  // namespace gt::shard
