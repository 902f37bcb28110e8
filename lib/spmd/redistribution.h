// How a tensor gets from one layout to another: collectives, conversions and
// copies, by the way that is expected to take the least time. gt-shard moves
// operands so, and gt-emit writes redistribute with src_spec= and dst_spec= so.
//
// Each move leads towards the target. An axis that cuts what it is not to cut
// is gathered, or goes to its place in one exchange; one that is to cut more is
// cut, or takes its part of a sum; sums that are owed over several axes may be
// taken at once. The order matters: what is cut first makes all that follows
// smaller. All orders are tried where few axes differ, and priced by the links
// of the machine.
//
// Source: the moves are those of spmd_types 0.2 (meta-pytorch/spmd_types).
#pragma once

#include <string_view>
#include <vector>

#include "spmd/layout.h"
#include "spmd/machine.h"
#include "spmd/move.h"

namespace gt {

// Empty when nothing is to be done: the layouts are equal, or the tensor's
// ranks hold what the target's need. A move may run on more ranks than the
// target has, if all of these then hold what they need.
std::vector<Move> redistribution(const Cluster& cluster, const Machine& machine,
                                 const Type& whole, const Layout& from,
                                 const Layout& to);

// Of several layouts in which a tensor is, the one from which the wanted one is
// had soonest, and how.
struct Way {
  size_t from = 0;
  std::vector<Move> moves;
};
Way nearest(const Cluster& cluster, const Machine& machine, const Type& whole,
            const std::vector<Layout>& layouts, const Layout& wanted);

// Where each rank of an axis has the largest or smallest of its part: that of
// all parts, by `combine`.
Move extreme(const Cluster& cluster, const Machine& machine, const Type& whole,
             const Layout& at, size_t axis, std::string_view combine);

}  // namespace gt
