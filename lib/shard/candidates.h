// Finds the ways to run a line on one axis of the mesh that are legal by its
// op's index rule (ops/index_rule.h) and by the operands in which the op is
// linear (spmd/join.h). One way is always legal: the axis cuts nothing, and
// each rank along it computes the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/index_rule.h"
#include "shard/plan.h"

namespace gt::shard {

// What an axis does in a line. It cuts one label (an index of the op's index
// rule) in all tensors that have it, or it cuts nothing. In addition some
// arguments and results may be summands (P) on it.
struct AxisUse {
  int label = -1;    // index among the labels; -1: none
  int64_t unit = 1;  // number of coordinates that stay together
  // Which arguments and results are summands: 1 for each that is. These are
  // bytes because a vector<bool> takes long to fill.
  std::vector<uint8_t> partial_arguments, partial_results;
  std::string what;  // for explanations: "x.0 w.1 cut", "whole"
};
using AxisUses = std::vector<AxisUse>;  // by axis

// If the use cuts the dimension over which the results are the maximum or
// minimum, each rank finds that of its part. Then returns "max" or "min";
// otherwise "".
std::string_view extreme_of(const AxisUse& use,
                            const std::vector<Label>& labels);

class Candidates {
 public:
  // The argument must outlive the object.
  explicit Candidates(const LineToPlan& in) : in_(in) {}

  // Returns the legal ways for the axis. The axis can only cut a label that it
  // already cuts in an operand, or that the config says it cuts. The last way
  // is none().
  std::vector<AxisUse> of(size_t axis) const;
  // Returns the way in which the axis cuts nothing and there are no summands.
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

  const LineToPlan& in_;
};

}  // namespace gt::shard
