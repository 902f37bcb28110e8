#include "base/writer.h"

#include "base/io.h"

namespace gt {

Writer::Writer(int fd) : fd_(fd), buffer_(kCapacity, '\0') {}

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
  if (errno_ == 0) errno_ = gt::write_all(fd_, bytes);
}

}  // namespace gt
