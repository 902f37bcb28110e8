// Reads a placed name whose parts were bound by different lines (x@0-1 = ...,
// then x@2-3 = ...) as one value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spmd/axis_names.h"
#include "spmd/sharded_value.h"

namespace gt {

// `all` are the parts of a name, on ranks of their own; `ranks` are those that
// are read. The result is the part itself if one has all of the ranks, else the
// parts that have some, joined: it may have more ranks than were asked for. An
// axis keeps its type where all parts agree and no group of ranks along it is
// of two parts; along others the values are unrelated (V), or untyped where
// that cannot be said, as of partial sums. Nothing if a rank is in no part.
// With no `ranks`: the part without ranks.
std::optional<ShardedValue> read_parts(const std::vector<ShardedValue>& all,
                                       const std::vector<int64_t>& ranks,
                                       const AxisNames& names);

}  // namespace gt
