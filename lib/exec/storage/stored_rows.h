// The bytes of a tensor in a file, all or some of its rows,
// or a block of them.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "file/stored.h"
#include "ops/part.h"

namespace gt {

// Reads `type` from row `row` on: type's first size many rows of the stored
// tensor. Only these are read. `out` takes type.bytes(). Errors: another dtype
// or other sizes than stored, rows beyond the end, a file cut short.
Status read_rows(int fd, const StoredTensor& stored, const Type& type,
                 int64_t row, void* out);

// The same of a block: `part` says where `type` lies in the tensor that
// read_rows would give.
Status read_block(int fd, const StoredTensor& stored, const Type& type,
                  int64_t row, Part part, void* out);

}  // namespace gt
