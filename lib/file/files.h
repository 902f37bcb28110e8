// The files that load and save may open: every file that the user may open, or
// only those below the directories that --root names. Symbolic links are
// followed before this is decided, so that none leads outside. Files that lie
// elsewhere (remote_files.h) are opened through the RemoteFiles passed to
// set_remote().
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "file/remote_files.h"

namespace gt {

// Returns the error of a file that cannot be used, for the reason in errno.
Error file_error(const std::string& path, int code);

// Owns a file descriptor, which its destructor closes.
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
  // Allows the files below these directories, or, if there are none, the whole
  // file system. Errors about files outside call the directories `limit`.
  // "DIR/*" makes each directory in DIR a root of its own: no link leads from
  // one to another. Errors: a root that cannot be opened.
  static Result<Files> make(
      const std::vector<std::string>& roots,
      std::string limit = "the directories that --root allows");

  void set_remote(std::shared_ptr<RemoteFiles> remote) {
    remote_ = std::move(remote);
  }

  // Opens a file for reading, without waiting for a FIFO's writer. Errors name
  // the path. A path outside the roots has the same error whether there is such
  // a file or not.
  Result<Fd> open(const std::string& path) const;
  // Opens a file that is to be replaced, as open() does. Sets `version` to the
  // file's version if the file lies elsewhere, else to "". The file need not
  // exist: then the descriptor is negative, and the version of a file elsewhere
  // is "none".
  Result<Fd> open_old(const std::string& path, std::string& version) const;

  // A place to write a file: its directory, open, and its name in that
  // directory. For a file elsewhere: what stores it there, and its path as
  // `name`; `over` is passed to RemoteFiles::store().
  struct Target {
    Fd directory;
    std::string name;
    std::shared_ptr<RemoteFiles> remote = nullptr;
    std::string over = {};
  };
  // Finds where to write a file, which need not exist. Errors: as open();
  // something that is not a regular file has the name.
  Result<Target> target(const std::string& path) const;
  // Opens for writing a file that has no name in any directory, as
  // memfd_create(2) makes them. The path is "/proc/PID/fd/N" of a process that
  // has it open. Such a file is written in place, since there is no name that a
  // new file could take. The result is negative if the path leads to no such
  // file, or if there are roots.
  Fd open_nameless(const std::string& path) const;
  // Makes the directories that a path needs and that do not exist. Errors: as
  // target(), and what stands in the way.
  Status make_parents(const std::string& path) const;

 private:
  struct Root {
    std::string path;  // without links; "/", or without a slash at its end
    std::shared_ptr<const Fd> directory;  // shared by copies of Files
    bool of_many = false;                 // each directory in it is a root
  };
  Error outside(const std::string& path) const;
  // Returns the absolute path with symbolic links followed; its last part need
  // not exist. Errors: the path leads outside the roots.
  Result<std::string> resolve(const std::string& path) const;
  // Opens the directory of a resolved path from its root on, part by part and
  // without following links, so that nobody can put a link there after the
  // path was resolved and checked.
  Result<Fd> open_directory(const std::string& resolved,
                            const std::string& path) const;
  // Returns the root above the resolved path, or null.
  const Root* root_of(const std::string& resolved) const;
  // True if `path` may lead to `resolved`, where it does lead.
  bool allows(const std::string& path, const std::string& resolved) const;
  bool is_limited() const { return root_of("/") == nullptr; }

  std::vector<Root> roots_;
  std::shared_ptr<RemoteFiles> remote_;
  std::string limit_ = "the directories that --root allows";
};

}  // namespace gt
