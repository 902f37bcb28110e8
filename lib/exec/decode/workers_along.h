// Which workers add up values over the axes of a mesh.
#pragma once

#include <string_view>
#include <vector>

#include "exec/comm/exchange.h"
#include "exec/decode/hosting.h"
#include "spmd/mesh.h"

namespace gt::exec {

// The sets of two workers or more over which lines can sum, each once: those
// along each axis; along each flattened one; and, of a mesh of few axes, along
// each combination of them (over=dp+tp), since lines need not declare those. Of
// more axes there would be too many, since each set costs memory of the GPU.
// None while a rank of the mesh has no worker. `name` is in the
// mesh's name space.
std::vector<comm::Workers> workers_along(const Mesh& mesh,
                                         const Hosting& hosting,
                                         std::string_view name);

}  // namespace gt::exec
