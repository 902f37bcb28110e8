#include "net/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/shortage.h"

namespace {

// So many descriptors no connection gets, since the process needs some for what
// it does: the files of a program, for instance.
constexpr rlim_t kKept = 4;
constexpr useconds_t kPause = 10'000;  // microseconds

}  // namespace

// Takes the place of the system's function. A new descriptor is the least
// number that is free, so a great one says that nearly all are in use.
extern "C" __attribute__((visibility("default"))) int accept4(int listening,
                                                              sockaddr* address,
                                                              socklen_t* size,
                                                              int flags) {
  const auto fd =
      static_cast<int>(::syscall(SYS_accept4, listening, address, size, flags));
  if (fd < 0) {
    if (errno != EMFILE && errno != ENFILE) return fd;
    // The connection still waits, and will be found there at once.
    ::usleep(kPause);
  } else {
    rlimit limit{};
    const bool is_spare = ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
                          static_cast<rlim_t>(fd) + kKept < limit.rlim_cur;
    if (is_spare) return fd;
    ::close(fd);
  }
  errno = ECONNABORTED;
  return -1;
}

namespace gt::net {

size_t spare_descriptors(size_t most) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  std::vector<int> held;
  while (held.size() < most) {
    const int fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) break;
    held.push_back(fd);
  }
  const int error = errno;
  for (const int fd : held) ::close(fd);
  errno = error;
  return held.size();
}

void need_descriptors(size_t count) {
  const size_t spare = spare_descriptors(count);
  if (spare == count) return;
  fail_short(("it needs " + std::to_string(count) +
              " more open files and sockets, of which it can have " +
              std::to_string(spare))
                 .c_str());
}

}  // namespace gt::net
