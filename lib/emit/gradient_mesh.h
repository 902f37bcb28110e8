// Writes what a gradient line states about the mesh. It has the mesh of its
// forward line, but is written where the grad stands, and another mesh may be
// in force there.
#pragma once

#include <string>

#include "emit/ledger.h"
#include "grad/reverse.h"

namespace gt::emit {

// Returns the type notes that the line needs, " #type=tp:I #partial=dp": what a
// constant is on each axis, and the axes on which a result is a sum still to be
// taken (P).
std::string type_notes(const Mesh* mesh, const grad::GradientLine& line);

// Returns the value of a key of the line as it must be written. In over= and
// split= a flattened axis ("world") is replaced by the axes that it is made of
// ("dp+tp") unless the mesh in the name space of `name` is still the line's.
// Other keys stay as they are.
std::string portable_value(const Ledger& ledger, const grad::GradientLine& line,
                           std::string_view name, const std::string& key,
                           const std::string& value);

// Puts the line under its own mesh if another is in force and the line names
// axes: appends the "mesh" line that opens it to `before`, and returns the
// "endmesh" line that closes it again. Otherwise it appends and returns
// nothing. `name` is the line's first result, whose name space counts.
std::string enter_mesh(const Ledger& ledger, const grad::GradientLine& line,
                       const std::string& name, std::string& before);

}  // namespace gt::emit
