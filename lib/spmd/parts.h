// A name whose parts were bound apart, read as one value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spmd/axis_names.h"
#include "spmd/sharded_value.h"

namespace gt {

// What values on ranks of their own are on these ranks together (none: of no
// ranks), or on all ranks of those that have some; nothing unless all are
// there. What stands on them in several parts is unrelated along the axes that
// tell the parts apart.
std::optional<ShardedValue> read_parts(const std::vector<ShardedValue>& all,
                                       const std::vector<int64_t>& ranks,
                                       const AxisNames& names);

}  // namespace gt
