#include "base/writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

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
  while (!bytes.empty() && errno_ == 0) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd p{fd_, POLLOUT, 0};
      ::poll(&p, 1, -1);
    } else if (errno != EINTR) {
      errno_ = errno;
    }
  }
}

}  // namespace gt
