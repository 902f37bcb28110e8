// The same pieces typed on other axes: flattened, unflattened, folded.
#pragma once

#include "spmd/claim.h"

namespace gt {

// The type on these axes. Axes of both sides keep their letters; the others, by
// falling stride, are cut into the smallest groups whose sizes agree. False
// with the problem: remesh-mixed, remesh-region, remesh-spec.
bool remesh(const Placement& from, const std::vector<Axis>& to,
            const AxisNames& names, Placement& out, Kinded& problem);

// What an operand is on the current mesh's axes; the same when it is typed on
// no others. A mesh axis that its own do not reach stays untyped.
bool remesh_to_current(const Placement& from, const AxisNames& names,
                       Placement& out, Kinded& problem);

}  // namespace gt
