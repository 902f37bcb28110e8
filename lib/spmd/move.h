// One step of a tensor from one layout to another, and how a line says it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ends.h"
#include "spmd/layout.h"

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

double seconds_of(const std::vector<Move>& moves);

// What a line of the move says after its operand, " over=tp dst=S0": with the
// whole's split= and shape= where parts are uneven.
std::string keys_of(const Move& move, const Cluster& cluster,
                    const Shape& whole);

// "x@0-1": the ranks on which a copy between sets reads; of another move those
// where it runs.
std::string source_ranks(const Move& move, const Cluster& cluster);

}  // namespace gt
