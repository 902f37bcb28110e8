// The order of results. A client gets the result lines of its prints in program
// order; the lines of one worker come in the order in which it was asked. A
// ResultOrder has, for one client, the runs of lines that it is owed, and keeps
// lines that came before their turn. ResultSources has, for each worker, the
// runs that it was asked for, of whichever client, and puts what the worker
// sends into them. Nothing is kept but what was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "route/result_check.h"

namespace gt::route {

// A worker has done that instruction and all that it was given before.
struct Awaited {
  uint32_t worker = 0;
  uint64_t seq = 0;
};
using IsDone = std::function<bool(const Awaited&)>;

// Result lines that a client gets one after the other and that come from one
// worker, or from nobody: failures that gt-route knows itself.
struct ResultRun {
  static constexpr int64_t kNobody = -1;

  int64_t worker = kNobody;
  // result_head() of each line, each with a newline. Lines before `begin` have
  // gone out to the client, lines before `come` have come from the worker.
  std::string heads;
  size_t begin = 0;
  size_t come = 0;
  std::string text;    // the lines that came
  size_t gone = 0;     // bytes of `text` that have gone out
  size_t whole = 0;    // lines in `text` that came whole and have not gone out
  uint64_t bytes = 0;  // of all its lines, roughly
  // A line from nobody that waits until these are done.
  std::optional<std::vector<Awaited>> after;
  // For each print where in `heads` its lines begin, and its seq.
  std::vector<std::pair<size_t, uint64_t>> seqs;
  size_t seq_at = 0;  // the entry of seqs for the next line that goes out

  bool is_over() const { return begin == heads.size() && gone == text.size(); }
};

// What the workers were asked for, whoever asked.
class ResultSources {
 public:
  explicit ResultSources(size_t workers) : workers_(workers) {}

  // Takes result lines from a worker; the last may be cut, and goes on with the
  // next call. Error: the worker was not asked for that (result_check.h); the
  // words go on behind the worker's name.
  Status take(uint32_t worker, std::string_view bytes);
  // Whether the worker was asked for lines that have not come.
  bool owes(uint32_t worker) const { return !workers_[worker].asked.empty(); }
  // The worker is lost: it is asked no more, and what it is owed for fails with
  // these words (ResultOrder::owe()). What was asked of it before, fail() of
  // each ResultOrder is to settle.
  void lose(uint32_t worker, const std::string& why) {
    workers_[worker] = Worker{};
    workers_[worker].loss = why;
  }
  // Why the worker is lost; "": it is not.
  const std::string& loss_of(uint32_t worker) const {
    return workers_[worker].loss;
  }
  // Whether it sent a failure though a value was asked for.
  bool has_failed(uint32_t worker) const { return workers_[worker].has_failed; }

  // No worker sends any more.
  void forget();

 private:
  friend class ResultOrder;
  struct Worker {
    // The runs whose lines have not all come, in order; each belongs to a
    // ResultOrder.
    std::deque<ResultRun*> asked;
    ResultCheck check;  // of the line that comes next
    bool has_failed = false;
    std::string loss;
  };
  // The run has lines that its worker is to send.
  void ask(ResultRun& run);
  // Whether more lines can be added to the run: its worker was asked for
  // nothing else since.
  bool goes_on(const ResultRun& run) const;
  static void note_line(Worker& worker);

  std::vector<Worker> workers_;
};

// What one client is owed, in the order of its prints.
class ResultOrder {
 public:
  // Gets a line that goes out: its worker, or -1 if it is from nobody; the seq
  // of its print, or 0; and the line with its newline.
  using Sink = std::function<void(int64_t, uint64_t, std::string_view)>;

  // The sources outlive it.
  explicit ResultOrder(ResultSources& sources) : sources_(sources) {}

  // The client is owed a line for each of these heads (result_head(), each with
  // a newline), which the worker will send for the print `seq`; all lines
  // together have about `bytes`. If the worker is lost, they are failures now.
  void owe(uint32_t worker, std::string_view heads, uint64_t bytes,
           uint64_t seq);
  // The client is owed this line, which is there already; without its newline.
  void add(std::string_view line);
  // The same of a line that goes out once all of these are done. If no worker
  // sends any more, it never does.
  void add_after(std::string_view line, std::vector<Awaited> awaited);

  // Appends to `out` lines whose turn it is and that came whole, until it has
  // `most` bytes or more. `sink` may be empty.
  void emit(std::string& out, size_t most, const IsDone& is_done,
            const Sink& sink = {});
  // No worker sends any more: lines that are owed and have not come become
  // failures with these words.
  void fail(const std::string& why);
  // That worker is lost, which the sources know: the lines that it owes become
  // failures.
  void fail(uint32_t worker);

  bool empty() const { return runs_.empty(); }
  // The worker whose line goes out next; -1: nobody's, or no line is owed.
  int64_t waits_for() const;
  // Bytes of the lines that are owed or wait for their turn, roughly.
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kLongRun = 4096;  // bytes of heads

  ResultRun& run_of(int64_t worker);
  void add_lines(std::string_view lines);  // each with its newline

  ResultSources& sources_;
  // In program order. The sources keep pointers to them, which a deque leaves
  // valid while runs are added behind and taken off in front.
  std::deque<ResultRun> runs_;
  uint64_t bytes_ = 0;
};

}  // namespace gt::route
