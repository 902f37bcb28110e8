// The bytes of a tensor in a file, all or some of its rows,
// or a block of them.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "file/stored.h"
#include "ops/part.h"

namespace gt::exec {

// Reads a block of the rows from `row` on, of the type of which `part` says
// where it lies in them. Only what is wanted is read, or little more. `out`
// takes type.bytes(). Errors: another dtype or other sizes than stored, rows
// beyond the end, a file cut short.
Status read_block(int fd, const StoredTensor& stored, const Type& type,
                  int64_t row, Part part, void* out);

}  // namespace gt::exec
