// Reads rows of a stored tensor, as a load without a block does.
#pragma once

#include <cstdint>

#include "exec/storage/stored_rows.h"

namespace gt {

// Reads rows of that type from `row` on into `out`. Errors are those of
// exec::read_block().
inline Status read_rows(int fd, const StoredTensor& stored, const Type& type,
                        int64_t row, void* out) {
  Part whole{type.shape, type.shape};
  for (size_t d = 0; d < type.shape.size(); ++d) whole.start[d] = 0;
  return exec::read_block(fd, stored, type, row, whole, out);
}

}  // namespace gt
