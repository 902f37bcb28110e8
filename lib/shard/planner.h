// Makes the plan of one line. For each axis of the mesh in turn it takes the
// way that costs least (axis_costs.h) among the legal ones (candidates.h), and
// the first of several that cost the same. If several axes cut one dimension,
// the costs of each axis alone mislead. Then the planner also tries to let all
// of these axes cut the same label.
#pragma once

#include <vector>

#include "shard/axis_costs.h"
#include "shard/candidates.h"
#include "shard/plan.h"
#include "shard/plan_builder.h"

namespace gt::shard {

class Planner {
 public:
  Planner(const Cluster& cluster, const Machine& machine,
          const PlannedLine& line);
  Planner(const Planner&) = delete;  // its members refer to in_
  Plan run();
  // Returns plans that are legal, too, and differ from that of run() in what
  // one axis does.
  std::vector<Plan> others();

 private:
  std::vector<AxisUse> ways(size_t axis);
  void choose(size_t axis);
  Plan made(const AxisUses& uses) const;

  // ---- axes that cut one dimension
  void choose_together();
  bool is_cut_twice() const;
  bool cut_by_all(size_t l, AxisUses& uses) const;
  double seconds_of(const Plan& plan, const AxisUses& uses) const;
  Layout settled(Layout made, size_t r) const;
  void tell_together(const AxisUses& each, double apart, double together);

  const LineToPlan in_;
  const Candidates candidates_;
  const AxisCosts costs_;
  const PlanBuilder builder_;
  AxisUses uses_;
  std::vector<Alternative> alternatives_;
};

}  // namespace gt::shard
