// Finds the sets of workers that compute sums over the axes of a mesh.
#pragma once

#include <string_view>
#include <vector>

#include "exec/comm/exchange.h"
#include "exec/decode/hosting.h"
#include "spmd/mesh.h"

namespace gt::exec {

// Returns the sets of two or more workers over which lines can sum, each once:
// those along each axis, along each flattened axis and, for a mesh of few axes,
// along each combination of axes (over=dp+tp), since lines need not declare
// those. With more axes there would be too many combinations, and each set
// costs memory of the GPU. Returns none while a rank of the mesh has no worker.
// `name` is a name in the mesh's name space.
std::vector<comm::Workers> workers_along(const Mesh& mesh,
                                         const Hosting& hosting,
                                         std::string_view name);

}  // namespace gt::exec
