// Lender: answers the requests of one borrower of files (net/file_talk.h). It
// lends the files of the borrower's user, or those of all users if the borrower
// is a worker. It uses no socket: messages to be sent are taken out by next().
// Work that may take long, such as reading a large file from end to end or
// waiting for a disk, is done on a thread, and requests that come meanwhile
// wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/digest.h"
#include "base/take_front.h"
#include "file/files.h"
#include "net/file_talk.h"
#include "net/joiner.h"
#include "serve/upload.h"
#include "serve/user_directory.h"

namespace gt::serve {

struct LenderOptions {
  std::string files;            // the directory; "": no files are lent
  uint64_t quota = UINT64_MAX;  // the bytes that a user's directory may hold
};

class Lender {
 public:
  // The uploads of the other borrowers. promised(root) returns the bytes that
  // they will add to a directory. claim(root, name) says that the upload of
  // that name in that directory belongs to no other borrower from now on.
  struct Others {
    std::function<uint64_t(const std::string& root)> promised;
    std::function<void(const std::string& root, const std::string& name)> claim;
  };

  // `user` is "" for a worker. The destructor waits for the thread.
  Lender(const LenderOptions& options, std::string user, Others others);
  ~Lender();
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;

  // Error, a message for people: the user has no files.
  Status check() {
    return is_worker() ? ok_status() : directory_of(user_).status;
  }
  // Takes a request, and answers it now or later. Error: it is not a valid
  // request, or one too many; the caller must then disconnect the borrower.
  Status take(net::OwnedMessage owned);
  // Sends the answer of a thread that is done, and takes the next requests.
  // Error: as for take().
  Status work();
  // True if a thread works for the borrower.
  bool is_busy() const { return answer_.valid(); }
  bool next(net::Frame& out) { return take_front(outgoing_, out); }
  // Makes the thread stop soon.
  void stop() { *stop_ = true; }

  // Returns the bytes that its upload will add to the directory.
  uint64_t promised(const std::string& root) const;
  // Gives up the upload of that name, which another borrower has claimed,
  // unless a thread works on it.
  void yield_upload(const std::string& root, const std::string& name);

 private:
  struct Place {
    Status status = ok_status();
    const UserDirectory* directory = nullptr;
    std::string path;  // below the user's directory
  };

  bool is_worker() const { return user_.empty(); }
  Place directory_of(const std::string& user);
  Place place_of(const std::string& path);
  Status answer(const net::Message& request);
  Status get(const net::Message& request);
  Status take_ticket(const net::Message& request);
  bool open(const std::string& path);
  Status sum(const net::Message& request);
  Status put(const net::Message& request);
  Status piece(const net::Message& request);
  Status end(const net::Message& request);
  Status forget(const net::Message& request);
  void report(const std::string& why, const char* flag = nullptr);
  void say(const std::string& message) { outgoing_.emplace_back(message); }
  // Calls it on a thread; the message that the call returns is the answer.
  void later(std::function<std::string()> call);

  const LenderOptions& options_;
  std::string user_;
  Others others_;
  std::map<std::string, UserDirectory> directories_;
  std::string path_;  // path of the file that was opened last
  std::shared_ptr<const Fd> file_;
  const std::string secret_;  // a secret from which tickets are made
  uint64_t last_ticket_ = 0;
  std::deque<std::string> tickets_;  // for data that may not have been read yet
  std::shared_ptr<Upload> upload_;
  std::future<std::string> answer_;
  const std::shared_ptr<std::atomic<bool>> stop_;
  std::deque<net::OwnedMessage> waiting_;
  std::deque<net::Frame> outgoing_;
};

}  // namespace gt::serve
