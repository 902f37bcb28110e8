// The plan of a line of which it is chosen what each axis does.
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

  // Whether every tensor can be cut so, by all axes together.
  bool is_possible(const AxisUses& uses) const;
  // Its layouts, and what fetching the operands takes; without alternatives.
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
