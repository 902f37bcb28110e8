// LenderFiles: the part of a Lender that touches files. What it does may wait
// for a disk, so a thread calls it (disk_threads.h), for one request after the
// other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/frame.h"
#include "net/wire.h"
#include "serve/upload.h"
#include "serve/user_directory.h"

namespace gt::serve {

struct LenderOptions {
  std::string files;            // the directory; "": no files are lent
  uint64_t quota = UINT64_MAX;  // the bytes that a user's directory may hold
};

// A path that a borrower names, taken apart without a look at the disk.
struct LentPath {
  std::string user;
  std::string below;  // the path below the user's directory
};

class LenderFiles {
 public:
  struct Answer {
    // Error: what was asked is no valid request, or the borrower has no files;
    // it must be disconnected.
    Status status = ok_status();
    net::Frame frame;  // the message
    bool ends_upload = false;
  };

  // `user` is "" for a worker.
  LenderFiles(LenderOptions options, std::string user);

  // Welcomes the borrower, if its user has files.
  Answer greet();
  // Answers a request. `upload` is the borrower's, null if it has none, and
  // `promised` the bytes that the uploads of others will add to its directory.
  Answer answer(const net::Message& request,
                const std::shared_ptr<Upload>& upload, uint64_t promised);
  // Makes what goes on soon end. Any thread may call it.
  void stop() { stop_ = true; }

  // In a worker's path, the first part is the user. Error: no file can have
  // this path.
  Result<LentPath> path_of(const std::string& path) const;
  // Returns the directory of the user.
  std::string root_of(const std::string& user) const {
    return options_.files + "/" + user;
  }

 private:
  struct Place {
    const UserDirectory* directory = nullptr;
    std::string path;  // below the user's directory
  };

  bool is_worker() const { return user_.empty(); }
  Result<const UserDirectory*> directory_of(const std::string& user);
  Result<Place> place_of(const std::string& path);
  Answer open(const std::string& path);
  Answer get(const net::Message& request);
  Status take_ticket(const net::Message& request);
  Answer sum(const net::Message& request);
  Answer put(const net::Message& request, Upload* upload, uint64_t promised);
  Answer piece(const net::Message& request, Upload* upload);
  Answer end(const net::Message& request, Upload* upload);
  Answer forget(const net::Message& request);

  const LenderOptions options_;
  const std::string user_;
  std::map<std::string, UserDirectory> directories_;
  std::string path_;  // path of the file that was opened last
  std::shared_ptr<const Fd> file_;
  const std::string secret_;  // a secret from which tickets are made
  uint64_t last_ticket_ = 0;
  std::deque<std::string> tickets_;  // for data that may not have been read yet
  std::atomic<bool> stop_{false};
};

}  // namespace gt::serve
