// One step of a tensor from one layout to another, and how a line says it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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

// The keys that a line of the move has, by name and value, "over" and "tp":
// with the whole's split= and shape= where parts are uneven.
using MoveKeys = std::vector<std::pair<std::string_view, std::string>>;
MoveKeys move_keys(const Move& move, const Cluster& cluster,
                   const Shape& whole);
// The same as text behind the line's operand, " over=tp dst=S0".
std::string keys_of(const Move& move, const Cluster& cluster,
                    const Shape& whole);

// "x@0-1": the ranks on which a copy between sets reads; of another move those
// where it runs.
std::string source_ranks(const Move& move, const Cluster& cluster);

}  // namespace gt
