// The ways in which a line can be taken on one axis: what its op's index rule
// (index_rule.h) and its linearity (join.h) make legal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/index_rule.h"
#include "shard/plan.h"

namespace gt::shard {

// What an axis does in a line: cuts a label, or nothing; and which arguments
// and results are summands on it.
struct AxisUse {
  int label = -1;
  int64_t unit = 1;  // coordinates of the label that stay together
  std::vector<bool> partial_arguments;
  std::vector<bool> partial_results;
  std::string what;
};
using AxisUses = std::vector<AxisUse>;  // by axis

// "max" or "min" where the use cuts what the results are that of; else "".
std::string_view extreme_of(const AxisUse& use,
                            const std::vector<Label>& labels);

class Candidates {
 public:
  Candidates(const Cluster& cluster, const PlannedLine& line,
             const std::vector<Label>& labels)
      : cluster_(cluster), line_(line), call_(line.call), labels_(labels) {}

  // The last one cuts nothing.
  std::vector<AxisUse> of(size_t axis) const;
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
