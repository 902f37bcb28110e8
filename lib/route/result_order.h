// Results: what each worker was asked for, and for each client the order in
// which it gets them. What comes before its turn waits; nothing is taken but
// what was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "route/result_check.h"

namespace gt::route {

// Lines of results that come one after the other from one worker, or from
// nobody.
struct ResultRun {
  static constexpr int64_t kNobody = -1;

  int64_t worker = kNobody;
  std::string heads;   // result_head() of each line that is owed, with newlines
  size_t begin = 0;    // in heads: of lines that have not gone out
  size_t come = 0;     // in heads: of lines that have not come
  std::string text;    // that came
  size_t gone = 0;     // bytes of it that have gone out
  size_t whole = 0;    // lines of it that have come whole and not gone
  uint64_t bytes = 0;  // that the results take, roughly
  // Where in `heads` the lines of a print begin, and its seq.
  std::vector<std::pair<size_t, uint64_t>> seqs;
  size_t seq_at = 0;  // in seqs

  bool is_over() const { return begin == heads.size() && gone == text.size(); }
};

// What the workers were asked for, whoever asked.
class ResultSources {
 public:
  explicit ResultSources(size_t workers) : workers_(workers) {}

  // Lines from a worker; the last may be cut, and goes on with the next call.
  // Error: what it sent that it was not asked for.
  Status take(uint32_t worker, std::string_view bytes);
  // Whether it has lines to send.
  bool owes(uint32_t worker) const { return !workers_[worker].asked.empty(); }
  // It sends no more, and is asked no more.
  void lose(uint32_t worker, const std::string& why) {
    workers_[worker] = Worker{};
    workers_[worker].loss = why;
  }
  // Why it is lost; "": it is not.
  const std::string& loss_of(uint32_t worker) const {
    return workers_[worker].loss;
  }
  // Whether it has sent a failure where a value was to be had.
  bool has_failed(uint32_t worker) const { return workers_[worker].has_failed; }

 private:
  friend class ResultOrder;
  struct Worker {
    std::deque<ResultRun*> asked;  // whose lines have not all come
    ResultCheck check;             // of the next of them
    bool has_failed = false;
    std::string loss;
  };
  void ask(ResultRun& run);
  // Whether its worker was asked for nothing since.
  bool goes_on(const ResultRun& run) const;
  void forget();
  static void note_line(Worker& worker);

  std::vector<Worker> workers_;
};

// What one client is owed, in the order of its prints.
class ResultOrder {
 public:
  // Of a line that leaves: its worker, or -1, its print's seq, and itself.
  using Sink = std::function<void(int64_t, uint64_t, std::string_view)>;

  // The sources outlive it.
  explicit ResultOrder(ResultSources& sources) : sources_(sources) {}

  // The worker will send a line for each of these heads (result_head()), each
  // ended by a newline, for the print `seq`; `bytes` is about how long they
  // are. If it is lost, they are failures.
  void owe(uint32_t worker, std::string_view heads, uint64_t bytes,
           uint64_t seq);
  // A line that needs nobody; without its newline.
  void add(std::string_view line);

  // Appends what is due now, up to about `most` bytes at a time. `sink` may be
  // empty.
  void emit(std::string& out, size_t most, const Sink& sink = {});
  // What is owed and has not come will not come: no worker sends any more; or
  // that one does not, as the sources know.
  void fail(const std::string& why);
  void fail(uint32_t worker);

  bool empty() const { return runs_.empty(); }
  // The worker that the next line is waited for from; -1: nobody.
  int64_t waits_for() const;
  // Bytes that are owed or wait for their turn, roughly.
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kLongRun = 4096;  // bytes of heads

  ResultRun& run_of(int64_t worker);
  void add_lines(std::string_view lines);  // each with its newline

  ResultSources& sources_;
  std::deque<ResultRun> runs_;  // each stays where it is
  uint64_t bytes_ = 0;
};

}  // namespace gt::route
