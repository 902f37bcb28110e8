// A Move is one step on a tensor's way from one layout to another: a
// collective, a conversion or a copy, with its price. redistribution.h finds
// the moves; here is how a line of the stream states one.
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
  uint32_t axes = 0;    // a bit for each axis that it goes over; of a copy 0
  End src, dst;         // the tensor's type on these axes before, and after
  Layout before, after;
  std::string_view combine = "";  // "max" or "min" in place of a sum
  double seconds = 0;             // an estimate, by a Machine
  double bytes = 0;               // that each rank sends; 0: the move is local
};

// The sum of the moves' seconds.
double seconds_of(const std::vector<Move>& moves);

// The keys of a line that makes the move, as pairs such as "over" and "tp".
// Where parts are uneven they include split= and shape= of the whole.
using MoveKeys = std::vector<std::pair<std::string_view, std::string>>;
MoveKeys move_keys(const Move& move, const Cluster& cluster,
                   const Shape& whole);
// The same as the text behind the line's operand, " over=tp dst=S0".
std::string keys_of(const Move& move, const Cluster& cluster,
                    const Shape& whole);

// The ranks of the operand of a line that makes the move, as text, "0-1": those
// on which the tensor is before. A copy to a set of another form reads from the
// first of them alone.
std::string source_ranks(const Move& move, const Cluster& cluster);

}  // namespace gt
