// Files that load and save reach at a gt-emit which lends them
// (net/file_caller.h): "tcp://HOST:PORT/USER/PATH".
//
// A file that was fetched is kept while nobody changes it there, so that who
// loads some rows of it at each step fetches it once; each load asks whether it
// is the same. Kept are at most 64 files and 4 GiB, in files without a name in
// $TMPDIR or /tmp; the one that was used least recently goes first. Loads and
// saves call from threads of their own: what is stored keeps no load waiting.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "file/files.h"
#include "file/remote_files.h"
#include "net/file_caller.h"
#include "net/keys.h"
#include "net/socket.h"

namespace gt::exec {

struct BorrowedFilesOptions {
  // "tcp://HOST:PORT" each; nothing: all that can be reached.
  std::optional<std::vector<std::string>> endpoints;
  std::optional<net::Keys> keys;  // our own, and the public one of who lends
  std::string server_key;
  bool anyone = false;     // without keys: whoever listens there may lend
  int64_t silence = 1500;  // ms after which a silent one is lost
};

class BorrowedFiles : public RemoteFiles {
 public:
  explicit BorrowedFiles(BorrowedFilesOptions options)
      : options_(std::move(options)) {}

  Result<Fd> open(const std::string& path, std::string& version,
                  bool* is_missing) override;
  Status store(const std::string& path, int fd, const std::string& over,
               bool& is_overtaken) override;

 private:
  static constexpr size_t kMostCopies = 64;
  static constexpr uint64_t kMostBytes = uint64_t{4} << 30;

  struct Copy {
    std::string path, version;
    Fd fd;
    uint64_t size = 0;
  };
  // Those who call for one purpose, one at a time.
  struct Callers {
    std::mutex mutex;  // guards these, and whom they call
    std::map<std::string, std::unique_ptr<net::FileCaller>> by_endpoint;
  };
  Result<net::FileCaller*> caller_of(const RemotePath& at, Callers& callers);
  const Copy* find(const std::string& path, const std::string& version);
  void keep(Copy copy);

  const BorrowedFilesOptions options_;
  std::mutex context_mutex_;
  std::unique_ptr<net::Context> context_;  // made when it is needed
  Callers storing_;
  Callers opening_;         // whose mutex guards what follows, too
  std::list<Copy> copies_;  // the last used first
  uint64_t bytes_ = 0;      // of all copies
};

}  // namespace gt::exec
