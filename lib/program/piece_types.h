// Types of a placed line's results, piece by piece.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "ops/call.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt {

// Returns the types of the pieces that the line makes, by result and then by
// position in where.ranks. `visit`, which may be empty, is called with the call
// of each rank if each runs the line by itself. Must not be called for a
// declaration or a free. Errors: those of the functions of placed.h.
using CallVisitor = std::function<void(const Call&)>;
Result<std::vector<std::vector<Type>>> piece_types(const Line& line,
                                                   const LineRanks& where,
                                                   const Mesh* mesh,
                                                   const PieceType& types,
                                                   const CallVisitor& visit);

}  // namespace gt
