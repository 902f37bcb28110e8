#include "file/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace gt {
namespace {

std::optional<std::string> real_path(const std::string& path) {
  char buffer[PATH_MAX];
  if (::realpath(path.c_str(), buffer) == nullptr) return std::nullopt;
  return std::string(buffer);
}

// True if this is the file that the process writes results or messages to. A
// file that took its place would hide them.
bool is_output(const struct stat& file) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat info {};
    if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_dev == file.st_dev && info.st_ino == file.st_ino) {
      return true;
    }
  }
  return false;
}

std::pair<std::string, std::string> split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// Returns the path without symbolic links; its last part need not exist.
Result<std::string> real_or_new(const std::string& path) {
  if (const auto whole = real_path(path)) return *whole;
  if (errno != ENOENT) return file_error(path, errno);
  const auto [directory, name] = split(path);
  const auto parent = real_path(directory);
  if (!parent) return file_error(directory, errno);
  if (name.empty() || name == "." || name == "..") {
    return file_error(path, EISDIR);
  }
  return (*parent == "/" ? "" : *parent) + "/" + name;
}

// Returns the part of `path` below a directory: the first one that follows the
// parts that lead to the directory; "" if none of them do. `directory` must be
// without symbolic links.
std::string_view part_below(const std::string& directory,
                            std::string_view path) {
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    const std::string above(path.substr(0, std::max<size_t>(1, slash)));
    if (real_path(above) != directory) continue;
    std::string_view part =
        path.substr(std::min(path.find_first_not_of('/', slash), path.size()));
    part = part.substr(0, part.find('/'));
    if (part != ".") return part;
  }
  return real_path(".") == directory ? path.substr(0, path.find('/')) : "";
}

// Returns the nearest existing directory above a path, without symbolic links.
std::string nearest_above(const std::string& path) {
  for (std::string at = path; at != "/" && at != ".";) {
    at = split(at).first;
    if (const auto found = real_path(at)) return *found;
  }
  return "";
}

// Each part of a path costs looks at all parts before it.
Status check_path(const std::string& path) {
  constexpr auto kMostParts = 256;
  if (path.empty()) return Error{"the path is empty"};
  if (path.find('\0') != std::string::npos) {
    return Error{"the path has a NUL byte in it"};
  }
  const auto parts = std::ranges::count(path, '/') + 1;
  if (parts <= kMostParts) return ok_status();
  return Error{"the path has " + std::to_string(parts) +
               " parts; it may have " + std::to_string(kMostParts)};
}

}  // namespace

Error file_error(const std::string& path, int code) {
  const bool is_home =
      code == ENOENT && (path == "~" || path.starts_with("~/"));
  return Error{
      path + ": " + std::strerror(code) +
      (is_home ? "; only a shell knows what ~ is: write out the path" : "")};
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Files> Files::make(const std::vector<std::string>& roots,
                          std::string limit) {
  Files files;
  files.limit_ = std::move(limit);
  for (std::string path :
       roots.empty() ? std::vector<std::string>{"/"} : roots) {
    const bool of_many = path.ends_with("/*");
    if (of_many) path.resize(std::max<size_t>(1, path.size() - 2));
    const auto resolved = real_path(path);
    Fd directory(
        resolved ? ::open(resolved->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)
                 : -1);
    if (!directory.ok()) return file_error(path, errno);
    files.roots_.push_back(
        {*resolved, std::make_shared<const Fd>(std::move(directory)), of_many});
  }
  return files;
}

const Files::Root* Files::root_of(const std::string& resolved) const {
  for (const Root& root : roots_) {
    if (root.path == "/") return &root;
    if (resolved.starts_with(root.path) && resolved.size() > root.path.size() &&
        resolved[root.path.size()] == '/') {
      return &root;
    }
  }
  return nullptr;
}

bool Files::allows(const std::string& path, const std::string& resolved) const {
  const Root* root = root_of(resolved);
  if (root == nullptr || !root->of_many) return root != nullptr;
  const std::string_view part = part_below(root->path, path);
  const std::string above = root->path == "/" ? "" : root->path;
  return !part.empty() &&
         resolved.starts_with(above + "/" + std::string(part) + "/");
}

// There is one error for every path outside, whether there is such a file or
// not.
Error Files::outside(const std::string& path) const {
  return Error{path + ": outside " + limit_};
}

Result<std::string> Files::resolve(const std::string& path) const {
  if (Status s = check_path(path); !s.ok()) return s.error();
  auto resolved = real_or_new(path);
  const std::string at =
      resolved.ok() ? resolved.value() : nearest_above(path) + "/file";
  if (!allows(path, at)) return outside(path);
  return resolved;
}

Result<Fd> Files::open_directory(const std::string& resolved,
                                 const std::string& path) const {
  const Root* root = root_of(resolved);
  if (root == nullptr) return outside(path);
  Fd at(::fcntl(root->directory->get(), F_DUPFD_CLOEXEC, 0));
  size_t begin = root->path == "/" ? 1 : root->path.size() + 1;
  const size_t last = resolved.rfind('/');
  while (at.ok() && begin <= last) {
    const size_t end = resolved.find('/', begin);
    at = Fd(::openat(at.get(), resolved.substr(begin, end - begin).c_str(),
                     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    begin = end + 1;
  }
  if (!at.ok()) return file_error(path, errno);
  return at;
}

Result<Fd> Files::open(const std::string& path) const {
  if (is_remote(path)) {
    std::string version;
    if (remote_ == nullptr) return outside(path);
    return remote_->open(path, version, nullptr);
  }
  const auto resolved = resolve(path);
  if (!resolved.ok()) return resolved.error();
  auto directory = open_directory(resolved.value(), path);
  if (!directory.ok()) return directory.error();
  // O_NONBLOCK, not to hang on a FIFO; the code that reads checks that the file
  // is regular.
  Fd fd(::openat(directory.value().get(),
                 split(resolved.value()).second.c_str(),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.ok()) return fd;
  // ELOOP: a symbolic link whose target is missing. The target may be outside
  // the roots, and saying that it is missing would reveal what exists there, so
  // the link is refused like any path outside.
  return is_limited() && errno == ELOOP ? outside(path)
                                        : file_error(path, errno);
}

Result<Fd> Files::open_old(const std::string& path,
                           std::string& version) const {
  if (is_remote(path)) {
    if (remote_ == nullptr) return outside(path);
    bool is_missing = false;
    auto fd = remote_->open(path, version, &is_missing);
    if (fd.ok() || !is_missing) return fd;
    version = "none";
    return Fd();
  }
  version.clear();
  auto at = target(path);
  if (!at.ok()) return at.error();
  Fd fd(::openat(at.value().directory.get(), at.value().name.c_str(),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.ok() && errno != ENOENT) return file_error(path, errno);
  return fd;
}

Result<Files::Target> Files::target(const std::string& path) const {
  if (is_remote(path)) {
    if (remote_ == nullptr) return outside(path);
    return Target{Fd(), path, remote_, ""};
  }
  const auto resolved = resolve(path);
  if (!resolved.ok()) return resolved.error();
  auto directory = open_directory(resolved.value(), path);
  if (!directory.ok()) return directory.error();
  Target target;
  target.directory = std::move(directory.value());
  target.name = split(resolved.value()).second;
  struct stat info {};
  if (::fstatat(target.directory.get(), target.name.c_str(), &info,
                AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(info.st_mode)) {
    return is_limited() && S_ISLNK(info.st_mode)
               ? outside(path)
               : Error{path + ": is not a regular file"};
  }
  if (is_output(info)) {
    return Error{path + ": standard output or standard error is written there"};
  }
  return target;
}

Fd Files::open_nameless(const std::string& path) const {
  if (!path.starts_with("/proc/") || is_limited()) return Fd();
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_nlink != 0) {
    return Fd();
  }
  return Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
}

// What is there is resolved and checked once, and the rest made part by part
// below it, so that the time grows with the path's length.
Status Files::make_parents(const std::string& path) const {
  if (Status s = check_path(path); !s.ok()) return s;
  const size_t last = path.rfind('/');
  if (last == std::string::npos || last == 0) return ok_status();
  const std::string parents = path.substr(0, last);
  struct stat info {};
  size_t there = last;
  while (there != std::string::npos && there > 0 &&
         ::stat(path.substr(0, there).c_str(), &info) != 0) {
    if (errno != ENOENT) {
      const Error why = file_error(parents, errno);
      const auto resolved = resolve(parents);
      return resolved.ok() ? why : resolved.error();
    }
    there = path.rfind('/', there - 1);
  }
  if (there == last) return ok_status();
  size_t begin = there == std::string::npos ? 0 : there + 1;
  // The directory that is there may be a root, above which nothing is allowed,
  // so it is found by the path of what is to be made in it.
  const std::string first =
      path.substr(0, std::min(path.find('/', begin), last));
  const auto resolved = resolve(first);
  if (!resolved.ok()) return resolved.error();
  auto at = open_directory(resolved.value(), first);
  if (!at.ok()) return at.error();
  while (begin < last) {
    const size_t end = std::min(path.find('/', begin), last);
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    // What such a part leads to is known only when the directories before it
    // are there.
    if (part == "..") return make_parents(path);
    if (::mkdirat(at.value().get(), part.c_str(), 0777) != 0 &&
        errno != EEXIST) {
      return file_error(path.substr(0, end), errno);
    }
    Fd below(::openat(at.value().get(), part.c_str(),
                      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below.ok()) return file_error(path.substr(0, end), errno);
    at = std::move(below);
  }
  return ok_status();
}

}  // namespace gt
