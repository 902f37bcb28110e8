#include "file/partial.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/hash.h"
#include "file/place.h"

namespace gt {
namespace {

constexpr std::string_view kPartSuffix = ".gt-part";
constexpr size_t kMostLeft = 16;  // parts kept in a directory

// Returns what the names of all parts of a target begin with.
std::string head_of(const std::string& target) {
  constexpr size_t kMost = 150;  // a name has 255 bytes at most
  if (target.size() <= kMost) return '.' + target + '.';
  return '.' + target.substr(0, kMost) + '-' + digest_text(hash_bytes(target)) +
         '.';
}

struct Left {
  std::string name;
  int64_t since = 0;  // seconds since 1970
};

std::vector<Left> left_in(const Fd& directory) {
  std::vector<Left> all;
  const int fd =
      ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = fd < 0 ? nullptr : ::fdopendir(fd);
  if (entries == nullptr) {
    if (fd >= 0) ::close(fd);
    return all;
  }
  while (const dirent* entry = ::readdir(entries)) {
    struct stat info {};
    if (!Partial::is_name(entry->d_name) ||
        ::fstatat(directory.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) !=
            0 ||
        !S_ISREG(info.st_mode)) {
      continue;
    }
    all.push_back({entry->d_name, int64_t{info.st_mtim.tv_sec}});
  }
  ::closedir(entries);
  return all;
}

void clean(const Files::Target& target, const std::string& ours) {
  std::vector<Left> all = left_in(target.directory);
  const std::string head = head_of(target.name);
  std::erase_if(all, [&](const Left& left) {
    if (left.name == ours) return true;
    const bool is_same = left.name.starts_with(head) &&
                         left.name.find('.', head.size()) ==
                             left.name.size() - kPartSuffix.size();
    if (is_same) remove_unless_written(target.directory, left.name);
    return is_same;
  });
  std::ranges::sort(all, {}, &Left::since);
  for (size_t i = 0; i + kMostLeft <= all.size(); ++i) {
    remove_unless_written(target.directory, all[i].name);
  }
}

}  // namespace

bool Partial::is_name(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kPartSuffix);
}

Result<std::unique_ptr<Partial>> Partial::open(Files::Target target,
                                               const std::string& word) {
  const std::string name =
      head_of(target.name) + word + std::string(kPartSuffix);
  clean(target, name);
  std::unique_ptr<Partial> part(new Partial(std::move(target), name));
  // Between opening and locking, the part may have been removed, or may have
  // taken its target's place.
  for (int tries = 0; tries < 10; ++tries) {
    part->fd_ = Fd(
        ::openat(part->target_.directory.get(), name.c_str(),
                 O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    struct stat info {};
    if (!part->fd_.ok() || ::fstat(part->fd_.get(), &info) != 0) {
      return Error{std::strerror(errno)};
    }
    if (!S_ISREG(info.st_mode)) return Error{"is not a regular file"};
    if (lock_named(part->fd_, part->target_.directory, name)) return part;
    if (errno == EWOULDBLOCK) break;
  }
  return std::unique_ptr<Partial>();
}

Result<uint64_t> Partial::size() const {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return Error{std::strerror(errno)};
  return static_cast<uint64_t>(info.st_size);
}

Status Partial::flush() const {
  copy_mode(target_, fd_.get());
  return flush_bytes(fd_.get());
}

Status Partial::take_place() {
  bool has_name = true;
  return gt::take_place(target_, name_, has_name);
}

void Partial::remove() {
  ::unlinkat(target_.directory.get(), name_.c_str(), 0);
}

}  // namespace gt
