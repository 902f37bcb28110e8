// Makes one line's plan: axis by axis the way that costs least, and then axes
// together where they cut one dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "shard/candidates.h"
#include "shard/plan.h"
#include "spmd/redistribution.h"

namespace gt::shard {

class Planner {
 public:
  Planner(const Cluster& cluster, const Machine& machine,
          const PlannedLine& line);
  Plan run();

 private:
  const Type& type(size_t i) const { return call_.type(i); }

  // ---- plan.cc: the choice, and the plan that it makes
  void choose(size_t axis);
  std::vector<uint32_t> axes_of(size_t l) const;
  bool is_possible() const;
  Plan arranged() const;
  Plan build() const;
  void place(const std::vector<LabelDim>& places, uint32_t axis,
             std::vector<Layout>& layouts) const;
  void fetch_whole(size_t i, Plan& plan) const;
  bool sums_halves() const;

  // ---- plan_together.cc: axes that cut one dimension
  void choose_together();
  bool is_cut_twice() const;
  bool cut_by_all(size_t l);
  double seconds_together() const;
  Layout settled(Layout made, size_t r) const;
  void tell_together(const std::vector<AxisUse>& each, double apart,
                     double together);

  // ---- plan_costs.cc: what one axis takes
  Layout on_axis(Layout layout, size_t axis, const AxisUse& use, size_t i,
                 const std::vector<LabelDim>* places, bool partial) const;
  double fetch(size_t axis, const AxisUse& use, size_t i) const;
  std::vector<Move> path(size_t i, const Layout& from, const Layout& to) const;
  double work(size_t axis, const AxisUse& use) const;
  double cost(size_t axis, const AxisUse& use) const;
  bool is_extreme(const AxisUse& use) const;
  double extreme_seconds(size_t axis, const AxisUse& use) const;
  Type summed_type(size_t r) const;
  double settle(size_t axis, const AxisUse& use, size_t r) const;

  const Cluster& cluster_;
  const Machine& machine_;
  const PlannedLine& line_;
  const Call& call_;
  std::vector<Label> labels_;
  Candidates candidates_;
  std::vector<AxisUse> uses_;
  std::vector<Alternative> alternatives_;
};

}  // namespace gt::shard
