// The same pieces typed on other axes: flattened, unflattened, folded.
#pragma once

#include <optional>

#include "spmd/axis_names.h"
#include "spmd/fault.h"

namespace gt {

// The type on these axes. Axes of both sides keep their letters; the others, by
// falling stride, are cut into the smallest groups whose sizes agree. Nothing,
// with the fault, if they do not.
std::optional<Placement> remesh(const Placement& from,
                                const std::vector<Axis>& to,
                                TypeFaults& faults);

// What an operand is on the current mesh's axes; the same when it is typed on
// no others. A mesh axis that its own do not reach stays untyped.
std::optional<Placement> remesh_to_current(const Placement& from,
                                           const AxisNames& names,
                                           TypeFaults& faults);

}  // namespace gt
