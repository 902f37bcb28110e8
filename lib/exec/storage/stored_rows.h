// Reads a tensor from a file, or some of its rows, or a block of these.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "file/stored.h"
#include "ops/part.h"

namespace gt::exec {

// Reads a tensor of this type: the block that `part` states, of the stored rows
// from `row` on. Little more is read than is wanted. `out` must have room for
// type.bytes() bytes, on the host. Errors: another dtype or other sizes than
// stored, rows beyond the end, a file cut short.
Status read_block(int fd, const StoredTensor& stored, const Type& type,
                  int64_t row, Part part, void* out);

}  // namespace gt::exec
