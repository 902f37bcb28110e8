// Changes the axes that a placement is stated on, while the pieces stay where
// they are: two axes become one flattened axis, or one becomes two.
#pragma once

#include <optional>

#include "spmd/axis_names.h"
#include "spmd/fault.h"

namespace gt {

// Returns the placement on the axes `to`. Axes that are on both sides keep
// their types. The others are taken by falling stride, in the smallest groups
// of equal size (in ranks); the axes of a group must have one letter, which the
// new ones get. Returns nothing, and adds a fault, if sizes, letters or ranks
// do not agree.
std::optional<Placement> remesh(const Placement& from,
                                const std::vector<Axis>& to,
                                TypeFaults& faults);

// Returns the placement on the axes of the current mesh, for an operand that
// was bound under another mesh; unchanged if all of its axes are of the current
// one. An axis of the mesh whose strides overlap those of none of the old axes
// stays untyped.
std::optional<Placement> remesh_to_current(const Placement& from,
                                           const AxisNames& names,
                                           TypeFaults& faults);

}  // namespace gt
