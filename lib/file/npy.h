// Reads and writes the header of NumPy's .npy files, versions 1.0 to 3.0. bf16,
// which NumPy lacks, is written and read as '<V2', two opaque bytes, as the
// Python package ml_dtypes does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "file/stored.h"
#include "stream/type.h"

namespace gt {

// The longest header, in bytes. A longer one is refused, as NumPy does.
inline constexpr size_t kMaxNpyHeader = size_t{64} << 10;

// Reads the header from a file's first bytes, which may end anywhere after it.
// Errors: not .npy, cut short, a dtype that gt does not have. Python objects
// are such a dtype: nothing is ever unpickled.
Result<StoredTensor> parse_npy_header(std::string_view bytes);

// Reads the header of an open file, without moving its position. Errors: as
// above; not a regular file; fewer bytes than the header promises.
Result<StoredTensor> read_npy_header(int fd);

// Returns the header that stands before the bytes of a row-major, little-endian
// tensor of that type.
std::string npy_header(const Type& type);

}  // namespace gt
