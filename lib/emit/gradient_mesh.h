// What a gradient line says of the mesh. It has the mesh of its forward line,
// but stands where the grad stands, and there another mesh may be in force.
#pragma once

#include <string>

#include "emit/ledger.h"
#include "grad/reverse.h"

namespace gt::emit {

// The notes of types that the line needs, " #type=tp:I #partial=dp": what a
// constant is on each axis, and the axes on which a result is a sum still to be
// taken (P).
std::string type_notes(const Mesh* mesh, const grad::GradientLine& line);

// The value of a key of the line as it is to be written. In over= and split= a
// flattened axis ("world") is replaced by the axes that it is made of ("dp+tp")
// unless the mesh in the name space of `name` is still the line's. Other keys
// stay as they are.
std::string portable_value(const Ledger& ledger, const grad::GradientLine& line,
                           std::string_view name, const std::string& key,
                           const std::string& value);

// Puts the line under its own mesh where another is in force and the line says
// something of axes: appends the "mesh" line that opens it to `before`, and
// returns the "endmesh" line that closes it again. Else both are empty. `name`
// is the line's first result, whose name space counts.
std::string enter_mesh(const Ledger& ledger, const grad::GradientLine& line,
                       const std::string& name, std::string& before);

}  // namespace gt::emit
