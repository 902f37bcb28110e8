// Finds the split= and the shape of the whole that describe how the pieces of a
// value are cut.
#pragma once

#include <optional>
#include <string>

#include "spmd/rank_set.h"
#include "spmd/sharded_value.h"

namespace gt {

struct StatedCut {
  Shape whole;
  std::string split;  // "dp:0,tp:1*64"
};

// Returns the cut for a line that runs on these ranks of the value. Returns
// nothing if the value is not cut, or if there is no split= that cuts a whole
// into these pieces.
std::optional<StatedCut> stated_cut(const ShardedValue& value,
                                    const Ranks& ranks, const Mesh* mesh);

}  // namespace gt
