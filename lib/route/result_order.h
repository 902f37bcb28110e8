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

// Says that a worker must have done the instruction `seq` and all that it was
// given before.
struct Awaited {
  uint32_t worker = 0;
  uint64_t seq = 0;
};
using IsDone = std::function<bool(const Awaited&)>;

// Result lines that a client gets one after the other and that come from one
// worker, or from nobody: failures that gt-route reports itself.
struct ResultRun {
  static constexpr int64_t kNobody = -1;

  int64_t worker = kNobody;
  // result_head() of each line, each followed by a newline. Lines before
  // `begin` have gone out to the client, lines before `come` have come from the
  // worker.
  std::string heads;
  size_t begin = 0;
  size_t come = 0;
  std::string text;    // the lines that have come
  size_t gone = 0;     // bytes of `text` that have gone out
  size_t whole = 0;    // lines in `text` that are whole and have not gone out
  uint64_t bytes = 0;  // approximate size of all its lines
  // Set for a line from nobody that waits until these instructions are done.
  std::optional<std::vector<Awaited>> after;
  // For each print the position in `heads` where its lines begin, and its seq.
  std::vector<std::pair<size_t, uint64_t>> seqs;
  // The entry of seqs that the next outgoing line belongs to.
  size_t seq_at = 0;

  bool is_over() const { return begin == heads.size() && gone == text.size(); }
};

// What the workers were asked for, for all clients together.
class ResultSources {
 public:
  explicit ResultSources(size_t workers) : workers_(workers) {}

  // Takes result lines from a worker. The last may be incomplete, and goes on
  // in the next call. Error: the worker was not asked for that
  // (result_check.h); the message is to be put behind the worker's name.
  Status take(uint32_t worker, std::string_view bytes);
  // True if the worker was asked for lines that have not come.
  bool owes(uint32_t worker) const { return !workers_[worker].asked.empty(); }
  // The worker is lost: it is asked no more, and lines that would be asked of
  // it become failures with these words (ResultOrder::owe()). The caller
  // settles what it was asked before by fail() of each ResultOrder.
  void lose(uint32_t worker, const std::string& why) {
    workers_[worker] = Worker{};
    workers_[worker].loss = why;
  }
  // Returns why the worker is lost; "" if it is not.
  const std::string& loss_of(uint32_t worker) const {
    return workers_[worker].loss;
  }
  // True if the worker sent a failure though a value was asked for.
  bool has_failed(uint32_t worker) const { return workers_[worker].has_failed; }

  // No worker sends any more lines.
  void forget();

 private:
  friend class ResultOrder;
  struct Worker {
    // The runs whose lines have not all come, in order; each belongs to a
    // ResultOrder.
    std::deque<ResultRun*> asked;
    ResultCheck check;  // for the line that comes next
    bool has_failed = false;
    std::string loss;
  };
  // Notes that the run has lines which its worker is to send.
  void ask(ResultRun& run);
  // True if more lines can be added to the run: its worker was asked for
  // nothing else since.
  bool goes_on(const ResultRun& run) const;
  static void note_line(Worker& worker);

  std::vector<Worker> workers_;
};

// The lines that one client is owed, in the order of its prints.
class ResultOrder {
 public:
  // Gets a line that goes out: its worker, or -1 if it is from nobody; the seq
  // of its print, or 0; and the line with its newline.
  using Sink = std::function<void(int64_t, uint64_t, std::string_view)>;

  // The sources outlive it.
  explicit ResultOrder(ResultSources& sources) : sources_(sources) {}

  // Says that the client is owed a line for each of these heads (result_head(),
  // each followed by a newline), which the worker will send for the print
  // `seq`; together the lines have about `bytes`. If the worker is lost, they
  // become failures at once.
  void owe(uint32_t worker, std::string_view heads, uint64_t bytes,
           uint64_t seq);
  // Says that the client is owed this line, without its newline, which is there
  // already.
  void add(std::string_view line);
  // Does the same for a line that goes out once all of these are done. If no
  // worker sends any more, it never goes out.
  void add_after(std::string_view line, std::vector<Awaited> awaited);

  // Appends to `out` the lines whose turn it is and that have come whole, until
  // it has `most` bytes or more. `sink` may be empty.
  void emit(std::string& out, size_t most, const IsDone& is_done,
            const Sink& sink = {});
  // No worker sends any more: lines that are owed and have not come become
  // failures with these words.
  void fail(const std::string& why);
  // That worker is lost, as the sources know: the lines that it owes become
  // failures.
  void fail(uint32_t worker);

  bool empty() const { return runs_.empty(); }
  // Returns the worker whose line goes out next; -1 if it is nobody's or no
  // line is owed.
  int64_t waits_for() const;
  // Returns roughly the bytes of the lines that are owed or wait for their
  // turn.
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kLongRun = 4096;  // bytes of heads

  ResultRun& run_of(int64_t worker);
  void add_lines(std::string_view lines);  // each with its newline

  ResultSources& sources_;
  // The runs in program order. The sources point to them, and a deque keeps its
  // elements in place while runs are added at its end and taken from its front.
  std::deque<ResultRun> runs_;
  uint64_t bytes_ = 0;
};

}  // namespace gt::route
