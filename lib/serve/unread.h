// What a client has not read yet of what it is owed: results, and messages for
// people. All of it is kept until the client says that it has it, since the
// connection may end while it is on its way, and be made again.
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

class Unread {
 public:
  using Send = std::function<void(std::string message)>;

  // Messages that are sent ahead of the client's reading: no more are on their
  // way to it. What is owed beyond that is sent later, in fewer and longer
  // ones.
  static constexpr size_t kMostResults = 256;
  static constexpr size_t kMostReports = 1000;

  // `window`: bytes of results that are sent ahead of the client's reading.
  explicit Unread(uint64_t window) : window_(window) {}

  void add_results(std::string_view lines) { results_ += lines; }
  // Of messages for people the client may have kMostReports unread. What comes
  // beyond them is counted, and the number is told.
  void add_report(Exit status, std::string_view text);
  // Sends what there is and may be sent.
  void send(const Send& send);

  // The client has so many bytes of results and so many messages of those that
  // were sent since begin_visit(). Error: that many were not sent.
  Status take(uint64_t bytes, uint64_t reports);
  // A new connection of the same visit: the client has so much, and what it was
  // sent beyond that is to be sent again. Error: as of take().
  Status resume(uint64_t bytes, uint64_t reports);
  // A new visit, which counts from 0: all that is here is to be sent to it.
  void begin_visit();
  // The client is gone, and will not come back.
  void clear();

  // Of results: bytes that the client does not have.
  uint64_t bytes() const { return results_.size() - taken_at_; }
  // Whether all was sent; and whether the client has said that it has all.
  bool is_sent() const {
    return sent_at_ == results_.size() && reports_sent_ == reports_.size() &&
           untold_ == 0;
  }
  bool is_taken() const { return bytes() == 0 && reports_.empty(); }

 private:
  void send_reports(const Send& send);

  uint64_t window_;
  std::string results_;
  // Bytes of them that the client has, and that it was sent. What it has is
  // erased now and then.
  size_t taken_at_ = 0, sent_at_ = 0;
  uint64_t taken_ = 0;               // of this visit, as the client counts
  std::deque<uint64_t> on_way_;      // bytes of each message that was sent
  std::deque<std::string> reports_;  // messages, which the client does not have
  size_t reports_sent_ = 0;          // of them
  uint64_t reports_taken_ = 0;       // of this visit
  uint64_t untold_ = 0;              // messages that were one too many
  Exit untold_status_ = Exit::kDone;
};

}  // namespace gt::serve
