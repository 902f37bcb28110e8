#include "base/writer.h"

#include <utility>

#include "base/io.h"

namespace gt {

Writer::Writer(int fd)
    : Writer(
          [fd](std::string_view bytes) { return gt::write_all(fd, bytes); }) {}

Writer::Writer(Sink sink) : sink_(std::move(sink)), buffer_(kCapacity, '\0') {}

void Writer::flush() {
  write_all({buffer_.data(), size_});
  size_ = 0;
}

void Writer::write_slow(std::string_view bytes) {
  flush();
  if (bytes.size() > kCapacity) return write_all(bytes);
  append(bytes);
}

void Writer::write_all(std::string_view bytes) {
  if (errno_ == 0 && !bytes.empty()) errno_ = sink_(bytes);
}

}  // namespace gt
