// The header of a NumPy .npy file, versions 1.0 to 3.0. bf16, which NumPy
// lacks, is written and read as '<V2', two opaque bytes, as ml_dtypes does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stream/type.h"

namespace gt {

struct NpyHeader {
  // A longer header is refused, as NumPy refuses one.
  static constexpr size_t kMaxBytes = size_t{64} << 10;

  Type type;
  bool fortran_order = false;  // the first index varies fastest
  bool big_endian = false;
  size_t data_offset = 0;  // bytes from the start of the file
};

// From a file's first bytes; `bytes` may stop anywhere after the header.
// Errors: not .npy, cut short, a dtype that gt does not have. Objects are never
// unpickled.
Result<NpyHeader> parse_npy_header(std::string_view bytes);

// From an open regular file, whose size must be what the header promises, or
// more. Leaves the file's position alone.
Result<NpyHeader> read_npy_header(int fd);
// The same by path, which the error begins with.
Result<NpyHeader> read_npy_header(const std::string& path);

// The bytes in front of a row-major little-endian tensor of that type.
std::string npy_header(const Type& type);

}  // namespace gt
