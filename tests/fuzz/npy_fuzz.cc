// Takes any bytes as a .npy file, which loads whole or is refused. Nothing
// crashes, and no more memory is used than the stated type takes.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "exec/memory/part_runs.h"
#include "file/npy.h"
#include "rows.h"
#include "target.h"

namespace {

// The second half of each dimension, read alone, must be that half of the
// whole.
void read_blocks(int fd, const gt::StoredTensor& header,
                 const std::vector<char>& whole) {
  const gt::Type& type = header.type;
  const auto item = static_cast<int64_t>(gt::size_of(type.dtype));
  for (size_t d = 0; d < type.shape.size(); ++d) {
    gt::Type block = type;
    gt::Part part{type.shape, type.shape};
    for (size_t i = 0; i < type.shape.size(); ++i) part.start[i] = 0;
    part.start[d] = type.shape[d] / 2;
    block.shape[d] -= part.start[d];
    std::vector<char> out(block.bytes() + 1);
    if (!gt::exec::read_block(fd, header, block, 0, part, out.data()).ok()) {
      std::abort();
    }
    gt::exec::PartRuns runs(block.shape, part);
    gt::exec::each_of_part(runs, [&](int64_t i, int64_t g) {
      if (std::memcmp(out.data() + i * item, whole.data() + g * item,
                      static_cast<size_t>(item)) != 0) {
        std::abort();
      }
    });
  }
}

// Reads the rows of an accepted file, all of them and the last one.
void read_rows(const gt::StoredTensor& header, std::string_view bytes) {
  const int fd = ::memfd_create("npy", MFD_CLOEXEC);
  if (::write(fd, bytes.data(), bytes.size()) !=
      static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  const auto again = gt::read_npy_header(fd);
  if (again.ok()) {
    if (again.value().type != header.type) std::abort();
    gt::Type type = header.type;
    std::vector<char> out(type.bytes() + 1);
    if (!gt::read_rows(fd, header, type, 0, out.data()).ok()) std::abort();
    read_blocks(fd, header, out);
    if (!type.shape.empty() && type.shape[0] > 0) {
      const int64_t last = type.shape[0] - 1;
      type.shape[0] = 1;
      if (!gt::read_rows(fd, header, type, last, out.data()).ok() ||
          gt::read_rows(fd, header, type, last + 1, out.data()).ok()) {
        std::abort();
      }
    }
  }
  ::close(fd);
}

}  // namespace

GT_FUZZ_TARGET(npy) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = gt::parse_npy_header(bytes);
  if (!header.ok()) return 0;
  const std::string written = gt::npy_header(header.value().type);
  const auto back = gt::parse_npy_header(written);
  if (!back.ok() || back.value().type != header.value().type) std::abort();
  read_rows(header.value(), bytes);
  return 0;
}
