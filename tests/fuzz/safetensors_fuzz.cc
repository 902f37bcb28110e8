// Takes any bytes as a safetensors file, whose tensors load or are refused.
// Nothing crashes, and no more memory is used than the file and the stated
// types take. A file that is accepted is accepted again, the same, when it is
// written again.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "file/json.h"
#include "file/safetensors.h"
#include "rows.h"
#include "target.h"

namespace {

void check_round_trip(const gt::SafetensorsHeader& header, size_t bytes) {
  const std::string text = gt::safetensors_header(header);
  const auto back =
      gt::parse_safetensors(std::string_view(text).substr(8), bytes);
  if (!back.ok() || text.size() % 8 != 0 ||
      back.value().metadata != header.metadata ||
      gt::safetensors_header(back.value()) != text) {
    std::abort();
  }
}

void read_tensors(int fd, const gt::SafetensorsHeader& header) {
  for (const gt::SafetensorsEntry& entry : header.tensors) {
    if (!gt::is_utf8(entry.name)) std::abort();
    const auto stored = header.stored(entry.name);
    if (!stored.ok()) continue;
    gt::Type type = stored.value().type;
    if (type.bytes() != entry.end - entry.begin) std::abort();
    std::vector<char> out(type.bytes() + 1);
    if (!gt::read_rows(fd, stored.value(), type, 0, out.data()).ok()) {
      std::abort();
    }
    if (type.shape.empty() || type.shape[0] == 0) continue;
    const int64_t last = type.shape[0] - 1;
    type.shape[0] = 1;
    if (!gt::read_rows(fd, stored.value(), type, last, out.data()).ok() ||
        gt::read_rows(fd, stored.value(), type, last + 1, out.data()).ok()) {
      std::abort();
    }
  }
}

}  // namespace

GT_FUZZ_TARGET(safetensors) {
  const int fd = ::memfd_create("safetensors", MFD_CLOEXEC);
  if (::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto header = gt::read_safetensors(fd);
  if (header.ok()) {
    check_round_trip(header.value(), size - header.value().data_offset);
    read_tensors(fd, header.value());
    (void)header.value().stored("model.weight");
  }
  ::close(fd);
  return 0;
}
