// RunLog: understands the log of a run row by row (gt-log(5); rows:
// stream/rows.h, words in their last column: stream/log_words.h). It returns
// spans, which say when each queue of each worker ran what, and transfers from
// worker to worker.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stream/log_words.h"
#include "stream/rows.h"

namespace gt::log {

class RunLog {
 public:
  // The content of one row; views are valid until the next take(). Times are in
  // nanoseconds since the first row.

  // A queue of a worker ran the instructions from `first` to `last`.
  struct Span {
    uint64_t worker = 0;
    std::string_view queue;
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t first = 0;  // numbers of instructions (seq)
    uint64_t last = 0;
    // Of the last instruction; "" if it is no longer kept.
    std::string_view text;
  };
  // Bytes of a value went from one worker to another for an instruction.
  struct Transfer {
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t seq = 0;
    uint64_t bytes = 0;
    std::string_view text;
  };
  enum class Event { kOther, kIssue, kSend, kSpan, kTransfer, kReport };

  // Takes any row, in the order of the log. For kSpan and kTransfer, span() or
  // transfer() has the content. kOther: the row has no meaning here, since its
  // event is not known, or it lacks a number or a time. This is not an error,
  // since new events may be added to the log.
  Event take(const LogRow& row);
  const Span& span() const { return span_; }
  const Transfer& transfer() const { return transfer_; }
  // An instruction that was issued.
  struct Issue {
    uint64_t seq = 0;
    std::string peers;  // the workers, a rank set
    std::string text;
    double cost = 0;  // as given to price()
  };
  // Keeps what the instruction of the last row costs, if that was kIssue.
  void price(double cost) { issues_.back().cost = cost; }
  // Returns the instructions of a span, in order; none if some of them are no
  // longer kept.
  std::vector<const Issue*> issues_of(const Span& span) const;

  // True if there was a row about a worker: then this is the log of a run, and
  // not one that gt-log -o wrote of a stream.
  bool is_run() const { return is_run_; }

 private:
  // The number of instructions whose text is kept, the last ones. More are
  // seldom under way.
  static constexpr size_t kMaxIssues = size_t{1} << 16;
  static constexpr size_t kMaxText = 4096;
  static constexpr size_t kMaxSends = size_t{1} << 16;

  struct Queue {
    uint64_t last = 0;  // the last instruction that it finished
    uint64_t end = 0;   // and the time of that
  };
  struct Worker {
    std::map<std::string, Queue, std::less<>> queues;
    // The messages to it: the last seq in each, and the time when it was sent.
    std::deque<std::pair<uint64_t, uint64_t>> sends;
  };

  uint64_t since_start(uint64_t time) const {
    return time > start_ ? time - start_ : 0;
  }
  std::deque<Issue>::const_iterator issue_at(uint64_t seq) const;
  std::string_view text_of(uint64_t seq) const;
  bool take_span(uint64_t worker, uint64_t seq, uint64_t time);
  bool take_transfer(uint64_t worker, uint64_t seq, uint64_t time,
                     std::string_view bytes);

  std::map<uint64_t, Worker> workers_;
  std::deque<Issue> issues_;  // by seq
  uint64_t start_ = 0;        // time of the first row
  bool has_start_ = false;
  bool is_run_ = false;
  LogWords words_;
  std::string queue_;
  Span span_;
  Transfer transfer_;
};

}  // namespace gt::log
