// Reads a placed name whose parts were bound by different lines (x@0-1 = ...,
// then x@2-3 = ...) as one value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spmd/axis_names.h"
#include "spmd/sharded_value.h"

namespace gt {

// Returns the value that a name holds on `ranks`, the ranks that are read.
// `all` are the parts of the name, on disjoint ranks. The result is the part
// itself if one part has all of the ranks; else the parts that have some of
// them, joined, which may have more ranks than were asked for. An axis keeps
// its type if all parts agree and no group of ranks along it belongs to two
// parts. Along other axes the values are unrelated (V), or untyped where that
// cannot be said, as for partial sums. Returns nothing if a rank is in no part.
// Empty `ranks` ask for the part without ranks.
std::optional<ShardedValue> read_parts(const std::vector<ShardedValue>& all,
                                       const std::vector<int64_t>& ranks,
                                       const AxisNames& names);

}  // namespace gt
