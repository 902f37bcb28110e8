// Compiles the text of a Row into an Op. The table does so when an op is first
// asked for (table.h), in the thread that asks. A row that does not parse is a
// bug of gt's: the process aborts and prints the row's signature and why.
#pragma once

#include <string_view>

#include "ops/op.h"

namespace gt {

// Sets all of the Op but its family and id.
Op parse_row(const Row& row);
// The name of the row's op, from its signature, without compiling the row.
std::string_view name_in(const Row& row);

}  // namespace gt
