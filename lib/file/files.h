// Files that load and save may touch: all that the user may, or those below
// the directories that --root names, wherever symbolic links lead.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gt {

// A file descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

class Files {
 public:
  // No roots: the whole file system.
  static Result<Files> make(const std::vector<std::string>& roots);

  // Open for reading. Errors name the path.
  Result<Fd> open(const std::string& path) const;

  // The directory that holds (or will hold) the file, open, and the file's
  // name in it. What is there already must be a regular file.
  struct Target {
    Fd directory;
    std::string name;
  };
  Result<Target> target(const std::string& path) const;

 private:
  struct Root {
    std::string path;  // resolved; "/" or without a slash at its end
    std::shared_ptr<const Fd> directory;  // that copies of Files share
  };
  static Error outside(const std::string& path);
  // A path without symbolic links; its last part need not exist.
  Result<std::string> resolve(const std::string& path) const;
  // The directory of a resolved path, walked to without following links, so
  // that no one can swap one in meanwhile.
  Result<Fd> open_directory(const std::string& resolved,
                            const std::string& path) const;
  const Root* root_of(const std::string& resolved) const;
  bool is_limited() const { return root_of("/") == nullptr; }

  std::vector<Root> roots_;
};

}  // namespace gt
