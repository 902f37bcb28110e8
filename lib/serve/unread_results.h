// UnreadResults: the results and messages for people that a client is owed and
// has not read. They are kept until the client says that it has them, since the
// connection may end while they are on their way, and be made again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "base/result.h"

namespace gt::serve {

class UnreadResults {
 public:
  using Send = std::function<void(std::string message)>;

  // The most messages that are on their way to the client, ahead of its
  // reading. What is owed beyond them is sent later, in fewer and longer
  // messages.
  static constexpr size_t kMostResults = 256;
  static constexpr size_t kMostReports = 1000;

  // `window` is the number of bytes of results that are sent ahead of the
  // client's reading.
  explicit UnreadResults(uint64_t window) : window_(window) {}

  void add_results(std::string_view lines) { results_ += lines; }
  // Adds a message for people. The client may have kMostReports of them unread;
  // those beyond are only counted, and the client is told their number.
  void add_report(Exit status, std::string_view text);
  // Sends what there is and may be sent.
  void send(const Send& send);

  // The client says that it has so many bytes of results and so many messages
  // of those that were sent since begin_visit(). Error: that many were not
  // sent.
  Status take(uint64_t bytes, uint64_t reports);
  // The visit has a new connection: the client has so much, and everything it
  // was sent beyond that is to be sent again. Error: as for take().
  Status resume(uint64_t bytes, uint64_t reports);
  // Begins a new visit, which counts from 0: everything kept here is to be sent
  // to it.
  void begin_visit();
  // The client is gone, and will not come back.
  void clear();

  // Returns the bytes of results that the client does not have.
  uint64_t bytes() const { return results_.size() - taken_at_; }
  // is_sent() is true if everything was sent; is_taken() if the client has said
  // that it has everything.
  bool is_sent() const {
    return sent_at_ == results_.size() && reports_sent_ == reports_.size() &&
           untold_ == 0;
  }
  bool is_taken() const { return bytes() == 0 && reports_.empty(); }

 private:
  void send_reports(const Send& send);

  uint64_t window_;
  std::string results_;
  // The bytes of results_ that the client has, and those that it was sent.
  // Bytes that it has are erased from time to time.
  size_t taken_at_ = 0, sent_at_ = 0;
  // Bytes taken in this visit, as the client counts them.
  uint64_t taken_ = 0;
  // The bytes of each message of results that was sent.
  std::deque<uint64_t> on_way_;
  std::deque<std::string> reports_;  // messages that the client does not have
  size_t reports_sent_ = 0;          // how many of them were sent
  uint64_t reports_taken_ = 0;       // messages taken in this visit
  // The number of messages beyond kMostReports.
  uint64_t untold_ = 0;
  Exit untold_status_ = Exit::kDone;
};

}  // namespace gt::serve
