// Understands the log of a run row by row (gt-log(5); rows: stream/rows.h,
// words in their last column: stream/log_words.h), as spans and transfers: when
// each queue of each worker ran what, and what went from worker to worker.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "stream/log_words.h"
#include "stream/rows.h"

namespace gt::log {

class RunLog {
 public:
  // What one row tells; views are valid until the next take(). Times are
  // nanoseconds since the first row.

  // A queue of a worker ran the instructions from `first` to `last`.
  struct Span {
    uint64_t worker = 0;
    std::string_view queue;
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t first = 0;  // numbers of instructions (seq)
    uint64_t last = 0;
    std::string_view text;  // of the last one; "" if it is forgotten already
  };
  // Bytes of a value went from worker to worker for an instruction.
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

  // Takes any row, in the order of the log. kSpan and kTransfer: span() or
  // transfer() tells more. kOther: the row says nothing here, since it is of an
  // event that is not known, or lacks a number or a time that it should have.
  // New events may come into the log, so neither is an error.
  Event take(const LogRow& row);
  const Span& span() const { return span_; }
  const Transfer& transfer() const { return transfer_; }
  // Whether a worker had a row: then this is the log of a run, and not one that
  // gt-log -o wrote of a stream.
  bool is_run() const { return is_run_; }

 private:
  // The text of so many of the last instructions is kept: more are seldom on
  // their way.
  static constexpr size_t kMaxIssues = size_t{1} << 16;
  static constexpr size_t kMaxText = 4096;
  static constexpr size_t kMaxSends = size_t{1} << 16;

  struct Queue {
    uint64_t last = 0;  // instruction that it finished
    uint64_t end = 0;   // and when
  };
  struct Worker {
    std::map<std::string, Queue, std::less<>> queues;
    // Messages to it: the last seq of each, and when it was sent.
    std::deque<std::pair<uint64_t, uint64_t>> sends;
  };

  uint64_t since_start(uint64_t time) const {
    return time > start_ ? time - start_ : 0;
  }
  std::string_view text_of(uint64_t seq) const;
  bool take_span(uint64_t worker, uint64_t seq, uint64_t time);
  bool take_transfer(uint64_t worker, uint64_t seq, uint64_t time,
                     std::string_view bytes);

  std::map<uint64_t, Worker> workers_;
  std::deque<std::pair<uint64_t, std::string>> issues_;  // by seq
  uint64_t start_ = 0;  // time of the first row
  bool has_start_ = false;
  bool is_run_ = false;
  LogWords words_;
  std::string queue_;
  Span span_;
  Transfer transfer_;
};

}  // namespace gt::log
