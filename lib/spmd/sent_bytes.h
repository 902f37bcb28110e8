// Counts the bytes that the ranks of a move send to other ranks if each has a
// worker of its own: what the plans of exchange_plan.h make them send, without
// a plan for each group.
#pragma once

#include <cstdint>
#include <vector>

#include "spmd/layout.h"
#include "spmd/move.h"
#include "stream/type.h"

namespace gt {

// Returns the bytes for each rank of the set on which the move begins, in the
// order of the set; or one number if all of them send as much.
std::vector<uint64_t> sent_bytes(const Move& move, const Cluster& cluster,
                                 const Type& whole);

}  // namespace gt
