// A library to preload (LD_PRELOAD) that plays a disk that stalls: calls on
// what is below a directory called "files" wait while the file that GT_STALL
// names has their kind in it: open, read, write, flush or remove. Each call
// that waits first appends its kind to the file that GT_STALLED names.
#include "preload.h"

#include <cstdarg>
#include <cstdio>

namespace {

bool is_stalled(const char* call) {
  const char* path = std::getenv("GT_STALL");
  if (path == nullptr) return false;
  const auto fd =
      static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
  if (fd < 0) return false;
  char text[256] = "";
  ::syscall(SYS_read, fd, text, sizeof text - 1);
  ::syscall(SYS_close, fd);
  return std::strstr(text, call) != nullptr;
}

bool is_on_disk(int fd) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = ::readlink(link, path, sizeof path - 1);
  if (size <= 0) return false;
  path[size] = '\0';
  return std::strstr(path, "/files/") != nullptr;
}

void stall(const char* call) {
  char line[64];
  std::snprintf(line, sizeof line, "%s\n", call);
  append("GT_STALLED", line);
  while (is_stalled(call)) ::usleep(10'000);
}

void may_stall(const char* call, int fd) {
  if (is_stalled(call) && is_on_disk(fd)) stall(call);
}

}  // namespace

extern "C" {

ssize_t pread(int fd, void* to, size_t size, off_t at) {
  static auto* const real = next(&::pread, "pread");
  may_stall("read", fd);
  return real(fd, to, size, at);
}

ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  static auto* const real = next(&::pwrite, "pwrite");
  may_stall("write", fd);
  return real(fd, from, size, at);
}

int openat(int directory, const char* path, int flags, ...) {
  static auto* const real = next(&::openat, "openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  may_stall("open", directory);
  return real(directory, path, flags, mode);
}

int fsync(int fd) {
  static auto* const real = next(&::fsync, "fsync");
  may_stall("flush", fd);
  return real(fd);
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  static auto* const real = next(&::unlinkat, "unlinkat");
  may_stall("remove", directory);
  return real(directory, path, flags);
}

}  // extern "C"
