// Makes the plan of a line once it is chosen what each axis does in it.
#pragma once

#include <vector>

#include "shard/candidates.h"

namespace gt::shard {

class PlanBuilder {
 public:
  // All outlive it.
  PlanBuilder(const Cluster& cluster, const Machine& machine,
              const PlannedLine& line, const std::vector<Label>& labels)
      : cluster_(cluster),
        machine_(machine),
        line_(line),
        call_(line.call),
        labels_(labels) {}

  // Whether every tensor of the line can be cut so by all axes together: units
  // divide sizes, and no rank has nothing where something is needed.
  bool is_possible(const AxisUses& uses) const;
  // The plan, with what it takes to move the operands; without alternatives.
  Plan build(const AxisUses& uses) const;

 private:
  std::vector<uint32_t> axes_of(const AxisUses& uses, size_t l) const;
  Plan arranged(const AxisUses& uses) const;
  void fetch_whole(size_t i, Plan& plan) const;
  bool sums_halves(const AxisUses& uses) const;

  const Cluster& cluster_;
  const Machine& machine_;
  const PlannedLine& line_;
  const Call& call_;
  const std::vector<Label>& labels_;
};

}  // namespace gt::shard
