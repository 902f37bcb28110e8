// Makes the plan of a line after it was chosen what each axis does in it.
#pragma once

#include <vector>

#include "shard/candidates.h"

namespace gt::shard {

class PlanBuilder {
 public:
  // The argument must outlive the builder.
  explicit PlanBuilder(const LineToPlan& in) : in_(in) {}

  // Returns true if every tensor of the line can be cut by all axes in this
  // way: the units divide the sizes, and each rank gets a part of each
  // dimension of which no rank may have an empty part.
  bool is_possible(const AxisUses& uses) const;
  // Returns the plan, including the costs of moving the operands, without
  // alternatives.
  Plan build(const AxisUses& uses) const;

 private:
  std::vector<uint32_t> axes_of(const AxisUses& uses, size_t l) const;
  Plan arranged(const AxisUses& uses) const;
  void fetch_whole(size_t i, Plan& plan) const;
  bool sums_halves(const AxisUses& uses) const;

  const LineToPlan& in_;
};

}  // namespace gt::shard
