#include "base/io.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace gt {
namespace {

// True if the call is to be made again.
bool passes(int fd, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd p{fd, event, 0};
  ::poll(&p, 1, -1);
  return true;
}

}  // namespace

long read_some(int fd, char* to, size_t size) {
  for (;;) {
    const ssize_t n = ::read(fd, to, size);
    if (n >= 0 || !passes(fd, POLLIN)) return n;
  }
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (!passes(fd, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

}  // namespace gt
