// What a gradient line says of the mesh under which its forward line stood.
#pragma once

#include <string>

#include "emit/ledger.h"
#include "grad/reverse.h"

namespace gt::emit {

// " #type=tp:I #partial=dp": what a constant is, and sums that are owed.
std::string type_notes(const Mesh* mesh, const grad::GradientLine& line);

// The value of over= and split=, by the mesh's own axes where a flattened one
// may have no name any more in the name space of `name`.
std::string portable_value(const Ledger& ledger, const grad::GradientLine& line,
                           std::string_view name, const std::string& key,
                           const std::string& value);

// Where another mesh stands by now, the line's own stands for it alone: what
// opens it goes to `before`; returns what closes it again. `name` is the first
// of the line.
std::string enter_mesh(const Ledger& ledger, const grad::GradientLine& line,
                       const std::string& name, std::string& before);

}  // namespace gt::emit
