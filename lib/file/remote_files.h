// Files that lie on other hosts and are named "tcp://HOST:PORT/PATH". Files
// opens them through a RemoteFiles (exec/storage/borrowed_files.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gt {

class Fd;

// True if the path names a file elsewhere.
bool is_remote(std::string_view path);
// The "tcp://HOST:PORT" of such a path, and what follows it, without the '/'
// between them. Both may be "" if the path names no file.
struct RemotePath {
  std::string endpoint;
  std::string path;
};
RemotePath split_remote(std::string_view path);

class RemoteFiles {
 public:
  virtual ~RemoteFiles() = default;
  // Opens a whole copy of the file as it is now, to be read at any offset, and
  // sets `version` to the file's version. Errors name the path. If `is_missing`
  // is not null, it is set to true if the error is that there is no such file.
  virtual Result<Fd> open(const std::string& path, std::string& version,
                          bool* is_missing) = 0;
  // Replaces the file, in one step, by the whole content of `fd`. If `over` is
  // not "", it does so only if the file's version is still `over`, where "none"
  // stands for no file; otherwise it sets `is_overtaken` and returns an error.
  // Errors do not name the path.
  virtual Status store(const std::string& path, int fd, const std::string& over,
                       bool& is_overtaken) = 0;
};

// Makes a file without a name, which is gone when it is closed: in $TMPDIR or
// /tmp, or else in memory. The result is negative on an error, and errno says
// which.
Fd scratch_file();

}  // namespace gt
