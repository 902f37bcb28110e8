// Compiles a Row's text into an Op. A row that does not parse is our own bug
// and aborts with the row's text.
#pragma once

#include "ops/op.h"

namespace gt {

Op parse_row(const Row& row);

}  // namespace gt
