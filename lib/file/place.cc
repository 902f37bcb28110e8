#include "file/place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gt {
namespace {

// A failing close() is how some file systems report that the disk is full.
// Closing a copy of the descriptor reports that too, and the file keeps its
// lock.
bool is_closed_well(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 && ::close(copy) == 0;
}

}  // namespace

void copy_mode(const Files::Target& target, int fd) {
  struct stat info {};
  if (target.remote != nullptr) return;
  if (::fstatat(target.directory.get(), target.name.c_str(), &info, 0) == 0) {
    // Without set-user-ID and its like, since the file may change its owner.
    (void)!::fchmod(fd, info.st_mode & 0777);
  }
}

Status flush_bytes(int fd) {
  if (::fsync(fd) == 0 && is_closed_well(fd)) return ok_status();
  return Error{std::strerror(errno)};
}

bool lock_named(const Fd& fd, const Fd& directory, const std::string& name) {
  struct stat info {
  }, named{};
  return ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 &&
         ::fstat(fd.get(), &info) == 0 &&
         ::fstatat(directory.get(), name.c_str(), &named,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
         info.st_ino == named.st_ino && info.st_dev == named.st_dev;
}

void remove_unless_written(const Fd& directory, const std::string& name) {
  const Fd fd(::openat(directory.get(), name.c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (fd.ok() && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_uid == ::geteuid() && lock_named(fd, directory, name)) {
    ::unlinkat(directory.get(), name.c_str(), 0);
  }
}

Status take_place(const Files::Target& target, const std::string& temporary,
                  bool& has_name) {
  if (::renameat(target.directory.get(), temporary.c_str(),
                 target.directory.get(), target.name.c_str()) != 0) {
    return Error{std::strerror(errno)};
  }
  has_name = false;
  // A directory that may be written to but not read cannot be flushed.
  const Fd directory(::openat(target.directory.get(), ".",
                              O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.ok() && errno == EACCES) return ok_status();
  if (!directory.ok() ||
      (::fsync(directory.get()) != 0 && errno != EINVAL && errno != EROFS)) {
    return Error{std::strerror(errno)};
  }
  return ok_status();
}

}  // namespace gt
