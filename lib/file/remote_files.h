// Files that lie elsewhere and are named by where: "tcp://HOST:PORT/PATH". What
// reaches them is handed to Files (exec/storage/borrowed_files.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gt {

class Fd;

// Whether a path names a file elsewhere.
bool is_remote(std::string_view path);
// Its "tcp://HOST:PORT", and what follows, without the '/' between them. Of
// what names no file both may be "".
struct RemotePath {
  std::string endpoint;
  std::string path;
};
RemotePath split_remote(std::string_view path);

class RemoteFiles {
 public:
  virtual ~RemoteFiles() = default;
  // A whole copy of the file as it is now, to be read at any offset, and its
  // version. Errors name the path. `is_missing`, if it stands there: an error
  // is that there is no such file.
  virtual Result<Fd> open(const std::string& path, std::string& version,
                          bool* is_missing) = 0;
  // Replaces the file, in one step, by all that `fd` has. With `over`, only if
  // its version is still that, or if there is still none ("none"); if not,
  // `is_overtaken` is set and there is an error. Errors do not name the path.
  virtual Status store(const std::string& path, int fd, const std::string& over,
                       bool& is_overtaken) = 0;
};

// A file without a name, which is gone when it is closed: in $TMPDIR or /tmp,
// or else in memory. Negative on an error, which errno has.
Fd scratch_file();

}  // namespace gt
