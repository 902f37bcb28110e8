// Any bytes are a .npy file that loads whole, or are refused: never a crash,
// never memory beyond what the stated type takes.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "exec/npy_file.h"

namespace {

// Reads the rows of an accepted file, all of them and the last one.
void read_rows(const gt::NpyHeader& header, std::string_view bytes) {
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
    if (!gt::read_npy_rows(fd, header, type, 0, out.data()).ok()) std::abort();
    if (!type.shape.empty() && type.shape[0] > 0) {
      const int64_t last = type.shape[0] - 1;
      type.shape[0] = 1;
      if (!gt::read_npy_rows(fd, header, type, last, out.data()).ok() ||
          gt::read_npy_rows(fd, header, type, last + 1, out.data()).ok()) {
        std::abort();
      }
    }
  }
  ::close(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = gt::parse_npy_header(bytes);
  if (!header.ok()) return 0;
  const std::string written = gt::npy_header(header.value().type);
  const auto back = gt::parse_npy_header(written);
  if (!back.ok() || back.value().type != header.value().type) std::abort();
  read_rows(header.value(), bytes);
  return 0;
}
