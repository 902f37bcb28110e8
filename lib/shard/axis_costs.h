// Estimates the cost of a way to run a line on one axis of the mesh (AxisUse,
// candidates.h). Operands stay cut by the other axes as they are; apart from
// that the cost is as if there were no other axes. Times are in seconds.
#pragma once

#include <vector>

#include "shard/candidates.h"
#include "spmd/redistribution.h"

namespace gt::shard {

class AxisCosts {
 public:
  // The argument must outlive the object.
  explicit AxisCosts(const LineToPlan& in) : in_(in), flops_(flops(in.call)) {}

  // Returns the time that the line takes in this way: to bring its operands
  // into the layouts that it reads, to run the line itself, by the operations
  // and the bytes of memory of each rank, and to give its results what they
  // need afterwards, which are their sums and the moves to the layout in which
  // the config wants result 0.
  double seconds(size_t axis, const AxisUse& use) const;
  // Returns the part of seconds() that is spent on finding the maximum or
  // minimum over all ranks' parts. It is 0 unless the use cuts the dimension
  // over which the results are that.
  double extreme_seconds(size_t axis, const AxisUse& use) const;

 private:
  Layout on_axis(Layout layout, size_t axis, const AxisUse& use, size_t i,
                 const std::vector<LabelDim>* places, bool partial) const;
  double fetch(size_t axis, const AxisUse& use, size_t i) const;
  std::vector<Move> path(size_t i, const Layout& from, const Layout& to) const;
  double work(size_t axis, const AxisUse& use) const;
  double settle(size_t axis, const AxisUse& use, size_t r) const;

  const LineToPlan& in_;
  double flops_;  // the operations of the whole line
};

}  // namespace gt::shard
