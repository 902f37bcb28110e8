#include "file/replacement.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "base/random_token.h"
#include "file/place.h"

namespace gt {
namespace {

constexpr size_t kWriteChunk = size_t{1} << 20;       // bytes written at a time
constexpr const char* kTemporarySuffix = ".gt-save";  // of temporary names

// Returns a temporary name for a file. It is random, and not made of the
// process's number, which processes of several containers or hosts that share a
// directory may have in common.
std::string temporary_name(const std::string& name) {
  return '.' + name.substr(0, 200) + '.' + random_token() + kTemporarySuffix;
}

// Removes temporary files of programs that were killed. A process looks through
// each directory once.
void remove_abandoned(const Fd& directory) {
  static std::mutex mutex;
  static std::set<std::pair<dev_t, ino_t>> seen;
  struct stat info {};
  if (::fstat(directory.get(), &info) != 0) return;
  {
    const std::lock_guard lock(mutex);
    if (!seen.emplace(info.st_dev, info.st_ino).second) return;
  }
  const int fd =
      ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = fd < 0 ? nullptr : ::fdopendir(fd);
  if (entries == nullptr) {
    if (fd >= 0) ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    if (!Replacement::is_name(entry->d_name)) continue;
    remove_unless_written(directory, entry->d_name);
  }
  ::closedir(entries);
}

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
  if (target_.remote != nullptr) {
    fd_ = scratch_file();
    errno_ = errno;
    return;
  }
  temporary_ = temporary_name(target_.name);
  remove_abandoned(target_.directory);
  fd_ = Fd(::openat(target_.directory.get(), ".",
                    O_RDWR | O_TMPFILE | O_CLOEXEC, 0666));
  if (fd_.ok()) {
    ::flock(fd_.get(), LOCK_EX | LOCK_NB);  // nobody else has it yet
  } else if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) {
    make_named();
  }
  errno_ = errno;
}

Replacement::~Replacement() { hide(); }

bool Replacement::is_name(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kTemporarySuffix);
}

// Between the file's creation and its lock, another program may take it for one
// that was left behind, and remove it; then it is made again.
void Replacement::make_named() {
  for (int tries = 0; tries < 10; ++tries) {
    fd_ =
        Fd(::openat(target_.directory.get(), temporary_.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    struct stat info {};
    if (!fd_.ok()) return;
    ::flock(fd_.get(), LOCK_EX);
    has_name_ = ::fstat(fd_.get(), &info) == 0 && info.st_nlink > 0;
    if (has_name_) return;
  }
  fd_ = Fd();
  errno = EBUSY;
}

void Replacement::hide() {
  if (!has_name_) return;
  ::unlinkat(target_.directory.get(), temporary_.c_str(), 0);
  has_name_ = false;
}

void Replacement::copy_mode() const { gt::copy_mode(target_, fd_.get()); }

// Gives the file its temporary name.
bool Replacement::link() {
  if (has_name_) return true;
  const std::string self = "/proc/self/fd/" + std::to_string(fd_.get());
  has_name_ = ::linkat(AT_FDCWD, self.c_str(), target_.directory.get(),
                       temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return has_name_;
}

Status Replacement::commit() {
  if (target_.remote != nullptr) {
    return target_.remote->store(target_.name, fd_.get(), target_.over,
                                 is_overtaken_);
  }
  if (Status s = flush_bytes(fd_.get()); !s.ok()) return s;
  if (!link()) return Error{std::strerror(errno)};
  // The lock is held until the temporary name is gone: others remove what has
  // such a name and no lock.
  const Status placed = take_place(target_, temporary_, has_name_);
  fd_ = Fd();
  return placed;
}

}  // namespace gt
