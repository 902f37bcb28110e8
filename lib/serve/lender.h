// What one borrower of files asks (net/file_talk.h), and what it gets: files of
// its user's directory, or of all users' if it is a worker. Knows no socket:
// what is to be sent is handed out. What may take long, as to read a large file
// from end to end or to wait for a disk, is done on a thread, and what is asked
// meanwhile waits.
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
#include "serve/shelf.h"
#include "serve/upload.h"

namespace gt::serve {

struct LenderOptions {
  std::string files;            // DIR; "": none are lent
  uint64_t quota = UINT64_MAX;  // bytes that a user's directory may hold
};

class Lender {
 public:
  // `promised`, of a directory: bytes that the uploads of others will add to
  // it; `claim`: an upload of that name, in that directory, is no one else's
  // from now on.
  struct Others {
    std::function<uint64_t(const std::string& root)> promised;
    std::function<void(const std::string& root, const std::string& name)> claim;
  };

  // `user`: of a worker "". When it goes, it waits for its thread.
  Lender(const LenderOptions& options, std::string user, Others others);
  ~Lender();
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;

  // Error, for people: it has no files.
  Status check() { return is_worker() ? ok_status() : shelf_of(user_).status; }
  // Takes a request, and answers it, or later. Error: it is none, or one too
  // many, and the borrower is lost.
  Status take(net::Letter letter);
  // Goes on with what a thread has done. Error: as take().
  Status work();
  // Whether a thread works for it.
  bool is_busy() const { return answer_.valid(); }
  bool next(net::Frame& out) { return take_front(outgoing_, out); }
  // Stops what a thread does for it, soon.
  void stop() { *stop_ = true; }

  // What its upload will add to a directory.
  uint64_t promised(const std::string& root) const;
  // Its upload of that name is another's now; unless a thread works on it.
  void yield_upload(const std::string& root, const std::string& name);

 private:
  struct Place {
    Status status = ok_status();
    const Shelf* shelf = nullptr;
    std::string path;  // below its directory
  };

  bool is_worker() const { return user_.empty(); }
  Place shelf_of(const std::string& user);
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
  // Calls it on a thread; the message that it gives is the answer.
  void later(std::function<std::string()> call);

  const LenderOptions& options_;
  std::string user_;
  Others others_;
  std::map<std::string, Shelf> shelves_;
  std::string path_;  // of the file that was looked at last
  std::shared_ptr<const Fd> file_;
  const std::string secret_;  // from which tickets are made
  uint64_t last_ticket_ = 0;
  std::deque<std::string> tickets_;  // of data that may not be read yet
  std::shared_ptr<Upload> upload_;
  std::future<std::string> answer_;
  const std::shared_ptr<std::atomic<bool>> stop_;
  std::deque<net::Letter> waiting_;
  std::deque<net::Frame> outgoing_;
};

}  // namespace gt::serve
