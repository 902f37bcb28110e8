// Redistribution: finds the collectives, conversions and copies (Moves) that
// bring a tensor from one layout to another in the least estimated time.
// gt-shard uses it to move operands, and gt-emit to replace a redistribute with
// src_spec= and dst_spec= (specs.h).
//
// Each move leads towards the target. An axis that cuts a dimension which it
// must not cut is gathered, or goes to its place in one exchange. An axis that
// must cut more is cut, or takes its part of a sum. Sums that are pending over
// several axes may be taken at once. The order matters: what is cut first makes
// all that follows smaller. If at most five axes are involved all orders are
// tried; otherwise the first move is always taken.
//
// Prices are in seconds (Move::seconds): of a move with messages, what the
// exchange takes (exchange_bytes.h); of a local conversion, the bytes of the
// larger piece over the memory's bandwidth. The numbers are those of the
// Machine.
//
// Source: the moves are those of spmd_types 0.2 (meta-pytorch/spmd_types).
#pragma once

#include <string_view>
#include <vector>

#include "spmd/layout.h"
#include "spmd/machine.h"
#include "spmd/move.h"

namespace gt {

// Returns the moves from one layout to another. There are none if the layouts
// are equal, or the ranks of the target already hold what they need. A move may
// run on more ranks than the target has.
std::vector<Move> redistribution(const Cluster& cluster, const Machine& machine,
                                 const Type& whole, const Layout& from,
                                 const Layout& to);

// Given several layouts in which a tensor is available: the one from which the
// wanted layout takes the least time, and the moves.
struct Way {
  size_t from = 0;  // index in `layouts`
  std::vector<Move> moves;
};
Way nearest(const Cluster& cluster, const Machine& machine, const Type& whole,
            const std::vector<Layout>& layouts, const Layout& wanted);

// Returns the move for a tensor that holds, on each rank along an axis, the
// maxima or minima of that rank's part: the all_reduce by `combine` ("max" or
// "min").
Move extreme(const Cluster& cluster, const Machine& machine, const Type& whole,
             const Layout& at, size_t axis, std::string_view combine);

}  // namespace gt
