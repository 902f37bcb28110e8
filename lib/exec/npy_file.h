// .npy files as load and save see them.
#pragma once

#include <memory>
#include <string>

#include "exec/files.h"
#include "exec/kernel.h"
#include "ops/call.h"
#include "stream/npy.h"

namespace gt {

// The kernel of "x = load path type row". Each run opens the file anew, since a
// save may have replaced it. Errors: no such file, another dtype or shape than
// stated, rows beyond the end, a file cut short.
std::unique_ptr<Kernel> make_load_kernel(const Call& call, const Files& files);

// Reads `type` from row `row` on: type's first size many rows of the file.
// Only these are read. `out` takes type.bytes().
Status read_npy_rows(int fd, const NpyHeader& header, const Type& type,
                     int64_t row, void* out);

// Writes a row-major tensor to a new file that takes the path's place once it
// is whole. On an error the path is as it was.
Status save_npy(const Files& files, const std::string& path, const Type& type,
                const void* data);

}  // namespace gt
