// What a way of taking a line is expected to cost on one axis, others aside.
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
        labels_(labels) {}

  // Of all: what is fetched, the line itself, and what its results still owe.
  double seconds(size_t axis, const AxisUse& use) const;
  // Of making the results the largest or smallest of all parts, where the use
  // cuts what they are that of.
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
};

}  // namespace gt::shard
