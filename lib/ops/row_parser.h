// Compiles the text of a Row into an Op. The table does so when an op is first
// asked for (table.h), in the thread that asks. A row that does not parse is a
// bug in gt: the process prints the row's signature and the reason, and aborts.
#pragma once

#include <string_view>

#include "ops/op.h"

namespace gt {

// Returns the row as an Op, with all but its family and id set.
Op parse_row(const Row& row);
// Returns the name of the row's op, from its signature, without compiling the
// row.
std::string_view name_in(const Row& row);

}  // namespace gt
