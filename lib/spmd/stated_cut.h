// How pieces are cut from their whole, as split= says it.
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

// Nothing of what is not cut, or as no split= over these ranks cuts it.
std::optional<StatedCut> stated_cut(const ShardedValue& value,
                                    const Ranks& ranks, const Mesh* mesh);

}  // namespace gt
