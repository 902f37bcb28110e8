// A Move is one step on a tensor's way from one layout to another: a
// collective, a conversion or a copy, with its price. redistribution.h finds
// the moves; this file writes them as lines of the stream.
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
  uint32_t axes = 0;    // a bit for each axis that it goes over; 0: a copy
  End src, dst;         // the tensor's type on these axes before and after
  Layout before, after;
  std::string_view combine = "";  // "max" or "min" in place of a sum
  // Estimates for a Machine (set_price()).
  double seconds = 0;
  double bytes = 0;  // received by the rank that receives most
};

// Returns the sum of the moves' seconds.
double seconds_of(const std::vector<Move>& moves);

// Returns the keys of a line that makes the move, as pairs such as "over" and
// "tp". If parts are uneven, the keys include split= and shape= of the whole.
using MoveKeys = std::vector<std::pair<std::string_view, std::string>>;
MoveKeys move_keys(const Move& move, const Cluster& cluster,
                   const Shape& whole);
// Returns the same as the text behind the line's operand, " over=tp dst=S0".
std::string keys_of(const Move& move, const Cluster& cluster,
                    const Shape& whole);

// Returns the ranks of the operand of a line that makes the move, as text,
// "0-1": those on which the tensor is before the move. A copy to a set of
// another form reads from the first of them alone.
std::string source_ranks(const Move& move, const Cluster& cluster);

}  // namespace gt
