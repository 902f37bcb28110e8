// What ranks send and receive in an exchange if each has a worker of its own,
// and what that costs: what the plans of exchange_plan.h make them read,
// without a plan for each group. All that expects how long messages take asks
// here: the search for moves (redistribution.h), the order of a schedule, and
// what gt-shard --summary counts.
//
// A rank receives in each step of the plan what the others have for it, and a
// step begins when its owner is done with the one before. So each step takes a
// message's latency, plus what the rank receives over the link's bandwidth.
// That is what the null backend sleeps (Device::brought).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "spmd/crossing.h"
#include "spmd/layout.h"
#include "spmd/machine.h"
#include "spmd/move.h"
#include "stream/type.h"

namespace gt {

// What a rank receives from others in one step, and what others receive of it.
struct StepBytes {
  uint64_t in = 0;
  uint64_t out = 0;
};
// By step; there are at most two in which bytes travel.
using ExchangeBytes = std::array<StepBytes, 2>;

// Returns the bytes of each target of a group, in their order. What other ranks
// receive of a copy's sources is left out.
std::vector<ExchangeBytes> exchange_bytes(const Crossing& group);
// Returns the seconds until all ranks of the group have their results.
double exchange_seconds(const Crossing& group, const Machine& machine);

// Returns the bytes that are sent by each rank of the set on which the move
// begins, in the order of the set; or one number if all of them send as much.
std::vector<uint64_t> sent_bytes(const Move& move, const Cluster& cluster,
                                 const Type& whole);
// Sets the move's seconds and bytes.
void set_price(Move& move, const Cluster& cluster, const Machine& machine,
               const Type& whole);

}  // namespace gt
