// Compiles a Row's text into an Op. A row that does not parse is our own bug
// and aborts with the row's text.
#pragma once

#include <string_view>

#include "ops/op.h"

namespace gt {

// All but the op's family and id.
Op parse_row(const Row& row);
// The op's name, which its signature says.
std::string_view name_in(const Row& row);

}  // namespace gt
