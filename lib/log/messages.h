// Messages: when the instructions of a message ran, as far as the log of a run
// tells. It says when a worker began and ended a message of several
// instructions, and when values went from worker to worker meanwhile. In
// between the instructions share the time as they would by what they compute:
// none before the value that it waits for, and one whose value left ended then.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/run_log.h"
#include "log/typing.h"

namespace gt::log {

class Messages {
 public:
  // The most instructions that are kept.
  static constexpr size_t kMost = 1'000'000;

  // When a worker brought values for an instruction, or let others read them.
  struct Exchange {
    uint64_t worker, seq, start, end;
  };
  // When a worker ran an instruction, about.
  struct Ran {
    uint64_t worker, seq;
    std::string text;
    uint64_t start, end;
  };

  // Returns what the next instruction of the log costs: the nanoseconds that it
  // takes on some machine, as what counts is how instructions compare.
  double price(std::string_view text);
  // Takes a message with its instructions; they may be unknown, and none. Their
  // `cost` is what price() said.
  void take(const RunLog::Span& span,
            const std::vector<const RunLog::Issue*>& lines);
  void take(const Exchange& exchange) { exchanges_.push_back(exchange); }

  size_t count() const { return count_; }        // messages
  size_t left_out() const { return left_out_; }  // instructions beyond kMost

  // Visits the instructions of all messages, once everything is taken.
  void share_time(const std::function<void(const Ran&)>& visit);

 private:
  struct Line {
    uint64_t seq;
    std::string text;
    double cost;
    uint64_t ready = 0;  // when what it reads of other workers was there
    uint64_t ended = 0;  // when what it made could be read by them; 0: unknown
  };
  struct Message {
    uint64_t worker, start, end;
    std::vector<Line> lines;
  };

  void find_crossings(Message& message) const;
  std::span<const Exchange> exchanges_of(uint64_t worker, uint64_t seq) const;
  static double scale_for(std::span<const Line> lines, double start,
                          double end);
  static double end_of(std::span<const Line> lines, double start, double scale);
  static double visit_lines(const Message& message, std::span<const Line> lines,
                            double start, double end,
                            const std::function<void(const Ran&)>& visit);

  Typing typing_;
  std::vector<Message> messages_;
  std::vector<Exchange> exchanges_;  // by worker and seq, from share_time() on
  size_t count_ = 0;
  size_t lines_ = 0;
  size_t left_out_ = 0;
};

}  // namespace gt::log
