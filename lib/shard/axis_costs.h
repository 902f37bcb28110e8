// What a way of taking a line on one axis of the mesh (AxisUse, candidates.h)
// is expected to cost, as if the other axes were not there. Times are in
// seconds.
#pragma once

#include <vector>

#include "shard/candidates.h"
#include "spmd/redistribution.h"

namespace gt::shard {

class AxisCosts {
 public:
  // All outlive it.
  AxisCosts(const Cluster& cluster, const Machine& machine,
            const PlannedLine& line, const std::vector<Label>& labels)
      : cluster_(cluster),
        machine_(machine),
        line_(line),
        call_(line.call),
        labels_(labels),
        flops_(flops(line.call)) {}

  // The time of all that the line takes then: of bringing its operands into the
  // layouts that it reads; of the line itself, by operations and bytes of
  // memory on each rank; and of what its results need after it, which are their
  // sums and the way to where the config wants result 0.
  double seconds(size_t axis, const AxisUse& use) const;
  // The part of seconds() that finds the maximum or minimum of all ranks'
  // parts, where the use cuts the dimension over which the results are that;
  // else 0.
  double extreme_seconds(size_t axis, const AxisUse& use) const;

 private:
  Layout on_axis(Layout layout, size_t axis, const AxisUse& use, size_t i,
                 const std::vector<LabelDim>* places, bool partial) const;
  double fetch(size_t axis, const AxisUse& use, size_t i) const;
  std::vector<Move> path(size_t i, const Layout& from, const Layout& to) const;
  double work(size_t axis, const AxisUse& use) const;
  double settle(size_t axis, const AxisUse& use, size_t r) const;

  const Cluster& cluster_;
  const Machine& machine_;
  const PlannedLine& line_;
  const Call& call_;
  const std::vector<Label>& labels_;
  double flops_;  // of the whole line
};

}  // namespace gt::shard
