// Lender: answers the requests of one borrower of files (net/file_talk.h). It
// lends the files of the borrower's user, or those of all users if the borrower
// is a worker. It uses no socket: messages to be sent are taken out by next().
// It touches no file: a thread does (lender_files.h), and requests that come
// meanwhile wait.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/take_front.h"
#include "net/file_talk.h"
#include "net/joiner.h"
#include "serve/disk_threads.h"
#include "serve/lender_files.h"
#include "serve/upload.h"

namespace gt::serve {

class Lender {
 public:
  // The uploads of the other borrowers. promised(root) returns the bytes that
  // they will add to a directory. claim(root, name) says that the upload of
  // that name in that directory belongs to no other borrower from now on.
  struct Others {
    std::function<uint64_t(const std::string& root)> promised;
    std::function<void(const std::string& root, const std::string& name)> claim;
  };

  // `user` is "" for a worker. `threads` must outlive the object.
  Lender(const LenderOptions& options, std::string user, Others others,
         DiskThreads& threads);

  // Begins to look whether the user has files, and to welcome the borrower.
  Status greet();
  bool was_welcome() const { return was_welcome_; }
  // Takes a request, and answers it later. Error: it is not a valid request, or
  // one too many; the caller must then disconnect the borrower.
  Status take(net::OwnedMessage owned);
  // Sends the answer of a thread that is done, and takes the next request.
  // Error: as for take(), or, before the borrower was welcome, why it is not.
  Status work();
  // True if a thread works for the borrower.
  bool is_busy() const { return answer_ != nullptr; }
  bool next(net::Frame& out) { return take_front(outgoing_, out); }
  // Makes the thread stop soon.
  void stop() { files_->stop(); }

  // Returns the bytes that its upload will add to the directory.
  uint64_t promised(const std::string& root) const;
  // Gives up the upload of that name, which another borrower has claimed, at
  // the latest when the thread that works on it is done.
  void yield_upload(const std::string& root, const std::string& name);

 private:
  Status answer(net::OwnedMessage owned);
  Status begin_upload(const net::Message& request, uint64_t& promised);
  template <typename Call>
  Status later(Call call);

  const std::shared_ptr<LenderFiles> files_;
  Others others_;
  DiskThreads& threads_;
  std::shared_ptr<Upload> upload_;
  bool yields_ = false;  // the upload ends with the answer that is being made
  bool was_welcome_ = false;
  std::shared_ptr<Pending<LenderFiles::Answer>> answer_;
  std::deque<net::OwnedMessage> waiting_;
  std::deque<net::Frame> outgoing_;
};

}  // namespace gt::serve
