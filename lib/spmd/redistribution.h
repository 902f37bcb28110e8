// How a tensor gets from one layout to another: collectives, conversions and
// copies, by the way that is expected to take the least time. gt-shard moves
// operands so, and gt-emit writes redistribute with src_spec= and dst_spec= so.
//
// Each move leads towards the target. An axis that cuts what it is not to cut
// is gathered, or goes to its place in one exchange; one that is to cut more is
// cut, or takes its part of a sum; sums that are owed over several axes may be
// taken at once. The order matters: what is cut first makes all that follows
// smaller. All orders are tried, and priced by the machine's links.
//
// Source: the moves are those of spmd_types 0.2 (meta-pytorch/spmd_types).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ends.h"
#include "spmd/layout.h"
#include "spmd/machine.h"

namespace gt {

struct Move {
  std::string_view op;  // "all_reduce"
  uint32_t axes = 0;    // a bit for each that it goes over; of a copy none
  End src, dst;         // what the tensor is on them before, and after
  Layout before, after;
  std::string_view combine = "";  // in place of a sum: "max", "min"
  double seconds = 0;
  double bytes = 0;  // that each rank sends; 0: the move is local
};

// Empty when nothing is to be done: the layouts are equal, or the tensor's
// ranks hold what the target's need. A move may run on more ranks than the
// target has, if all of these then hold what they need.
std::vector<Move> redistribution(const Cluster& cluster, const Machine& machine,
                                 const Type& whole, const Layout& from,
                                 const Layout& to);

// Where each rank of an axis has the largest or smallest of its part: that of
// all parts, by `combine`.
Move extreme(const Cluster& cluster, const Machine& machine, const Type& whole,
             const Layout& at, size_t axis, std::string_view combine);

double seconds_of(const std::vector<Move>& moves);

// What a line of the move says after its operand, " over=tp dst=S0": with the
// whole's split= and shape= where parts are uneven.
std::string keys_of(const Move& move, const Cluster& cluster,
                    const Shape& whole);

// "x@0-1": the ranks on which a copy between sets reads; of another move those
// where it runs.
std::string source_ranks(const Move& move, const Cluster& cluster);

}  // namespace gt
