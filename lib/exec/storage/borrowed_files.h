// BorrowedFiles lets load and save use files at a gt-emit that lends them
// (net/file_caller.h), "tcp://HOST:PORT/USER/PATH".
//
// A fetched file is kept while nobody changes it there, so a program that loads
// some of its rows at each step fetches it once; each load asks whether it is
// still the same. At most 64 files and 4 GiB are kept, in files without a name
// in $TMPDIR or /tmp; the least recently used goes first. Loads and saves call
// from different threads, and use different connections, so that storing a file
// does not delay a load.
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

// From where files may be borrowed, and how to connect there.
struct BorrowedFilesOptions {
  // The endpoints that may be used, each "tcp://HOST:PORT"; none set: all.
  std::optional<std::vector<std::string>> endpoints;
  net::Trust trust;
  int64_t silence = 1500;  // ms after which a silent lender is lost
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
  // The callers for one purpose, of which one is used at a time.
  struct Callers {
    std::mutex mutex;  // guards the callers and their calls
    std::map<std::string, std::unique_ptr<net::FileCaller>> by_endpoint;
  };
  Result<net::FileCaller*> caller_of(const RemotePath& at, Callers& callers);
  const Copy* find(const std::string& path, const std::string& version);
  void keep(Copy copy);

  const BorrowedFilesOptions options_;
  std::mutex context_mutex_;
  std::unique_ptr<net::Context> context_;  // made when first needed
  Callers storing_;
  Callers opening_;         // its mutex also guards the members below
  std::list<Copy> copies_;  // most recently used first
  uint64_t bytes_ = 0;      // sum over copies_
};

}  // namespace gt::exec
