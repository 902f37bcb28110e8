// The header of a NumPy .npy file, versions 1.0 to 3.0. bf16, which NumPy
// lacks, is written and read as '<V2', two opaque bytes, as ml_dtypes does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "file/stored.h"
#include "stream/type.h"

namespace gt {

// A longer header is refused, as NumPy refuses one.
inline constexpr size_t kMaxNpyHeader = size_t{64} << 10;

// From a file's first bytes; `bytes` may stop anywhere after the header.
// Errors: not .npy, cut short, a dtype that gt does not have. Objects are never
// unpickled.
Result<StoredTensor> parse_npy_header(std::string_view bytes);

// From an open regular file, whose size must be what the header promises, or
// more. Leaves the file's position alone.
Result<StoredTensor> read_npy_header(int fd);

// The bytes in front of a row-major little-endian tensor of that type.
std::string npy_header(const Type& type);

}  // namespace gt
