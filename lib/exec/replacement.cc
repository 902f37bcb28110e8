#include "exec/replacement.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gt {
namespace {

constexpr size_t kWriteChunk = size_t{1} << 20;  // bytes written at a time

}  // namespace

Status write_all(int fd, const void* data, size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(fd, from, std::min(bytes, kWriteChunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    from += n;
    bytes -= static_cast<size_t>(n);
  }
  return ok_status();
}

Replacement::Replacement(Files::Target target) : target_(std::move(target)) {
  static std::atomic<uint64_t> count{0};
  temporary_ = '.';
  temporary_ += target_.name.substr(0, 200);
  for (const uint64_t part :
       {static_cast<uint64_t>(::getpid()), count.fetch_add(1)}) {
    temporary_ += '.';
    temporary_ += std::to_string(part);
  }
  fd_ = Fd(::openat(target_.directory.get(), temporary_.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  errno_ = errno;
}

Replacement::~Replacement() { hide(); }

void Replacement::hide() {
  if (!fd_.ok() || temporary_.empty()) return;
  ::unlinkat(target_.directory.get(), temporary_.c_str(), 0);
  temporary_.clear();
}

void Replacement::copy_mode() const {
  struct stat info {};
  if (::fstatat(target_.directory.get(), target_.name.c_str(), &info, 0) == 0) {
    (void)!::fchmod(fd_.get(), info.st_mode & 07777);
  }
}

// A failing close() is how some file systems say that the disk is full.
Status Replacement::commit() {
  const int fd = fd_.release();
  if (::close(fd) != 0 ||
      ::renameat(target_.directory.get(), temporary_.c_str(),
                 target_.directory.get(), target_.name.c_str()) != 0) {
    const Error error{std::strerror(errno)};
    ::unlinkat(target_.directory.get(), temporary_.c_str(), 0);
    return error;
  }
  return ok_status();
}

}  // namespace gt
