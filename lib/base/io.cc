#include "base/io.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace gt {
namespace {

std::atomic<bool> g_has_stdin_given{false};

// Returns true if the call must be made again; waits for the descriptor first
// if it would have blocked.
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
    if (n > 0 && fd == STDIN_FILENO) g_has_stdin_given.store(true);
    if (n >= 0 || !passes(fd, POLLIN)) return n;
  }
}

bool is_empty_pipe(int fd) {
  if (fd == STDIN_FILENO && g_has_stdin_given.load()) return false;
  struct stat info {};
  return ::fstat(fd, &info) == 0 &&
         (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

Status read_at(int fd, size_t offset, void* to, size_t size,
               const char* where) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(fd, bytes, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    if (n == 0) return Error{std::string("is cut short") + where};
    bytes += n;
    offset += static_cast<size_t>(n);
    size -= static_cast<size_t>(n);
  }
  return ok_status();
}

Status write_at(int fd, size_t offset, std::string_view bytes) {
  const auto begin = static_cast<off_t>(offset);
  const auto size = static_cast<off_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t n =
        ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    offset += static_cast<size_t>(n);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  // A file system that cannot do this writes the bytes when it is flushed.
  (void)::sync_file_range(fd, begin, size, SYNC_FILE_RANGE_WRITE);
  return ok_status();
}

int read_whole(int fd, std::string& text, size_t limit) {
  char chunk[1 << 16];
  long n = 0;
  do {
    n = read_some(fd, chunk, std::min(sizeof chunk, limit - text.size()));
    if (n > 0) text.append(chunk, static_cast<size_t>(n));
  } while (n > 0);
  return n < 0 ? errno : 0;
}

int read_whole(const std::string& path, std::string& text, size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = read_whole(fd, text, limit);
  ::close(fd);
  return error;
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

long write_ready(int fd, std::string_view bytes) {
  // A pipe that poll() reports as writable takes this many bytes at once.
  constexpr size_t kPipeBytes = 4096;
  size_t written = 0;
  while (written < bytes.size()) {
    pollfd p{fd, POLLOUT, 0};
    if (::poll(&p, 1, 0) <= 0) break;
    const ssize_t n = ::write(fd, bytes.data() + written,
                              std::min(bytes.size() - written, kPipeBytes));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (n < 0) return -1;
    written += static_cast<size_t>(n);
  }
  return static_cast<long>(written);
}

}  // namespace gt
