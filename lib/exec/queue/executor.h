// The executor is what runs on the thread of the compute queue: it runs the
// recipes of lines and all other jobs, writes results, and reports failures.
//
// When a kernel fails, its line is reported once, and the reason becomes the
// fault of the values that the line makes (interpreter.h). A failure may become
// known only after later kernels were run (speculative_issue.h). A line that
// fails only because an operand has failed is not reported: its results take
// over the operand's fault, and a print of a result shows it.
//
// All calls come from the queue's thread, except where a comment says
// otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/reported.h"
#include "base/writer.h"
#include "exec/backend/backend.h"
#include "exec/queue/interpreter.h"
#include "exec/queue/outlet.h"
#include "exec/queue/queue.h"
#include "exec/queue/report.h"
#include "exec/queue/speculative_issue.h"
#include "exec/queue/task.h"
#include "exec/storage/saves.h"
#include "exec/trace/meter.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"
#include "ops/save_group.h"

namespace gt::exec {

class Executor;

// Options of an executor. They are set before its thread starts, since the
// thread may read them before there is a task.
struct ExecutorOptions {
  bool fail_fast = false;        // run nothing after the first failure
  Trace* trace = nullptr;        // gets a row for each instruction
  bool waits_for_each = false;   // SpeculativeIssue::wait_for_each()
  bool records_repeats = false;  // SpeculativeIssue::record_repeats()
};

// A job is anything that a queue runs besides tasks: a print, a save, a message
// for people, the deletion of an object that earlier tasks use. It lives on the
// heap and is deleted once it has run.
class Job {
 public:
  // When a job runs if the outcomes of tasks before it are not known yet
  // (speculative_issue.h). kSettled waits for the outcomes, as any job that
  // reads a fault must. kInOrder runs when the outcomes of
  // tasks before it are known, and before those of tasks behind it are told,
  // although these tasks may have run; so what the job says comes in the
  // program's order. kLater runs once the outcomes of tasks before it are
  // known, and perhaps only after those of a whole block (repeats.h). kAtOnce
  // runs in its place in the queue, without waiting.
  enum class When : uint8_t { kSettled, kInOrder, kLater, kAtOnce };

  // A value whose bytes a job needs on the host.
  struct Wanted {
    const Value* value = nullptr;
    size_t bytes = 0;
  };

  explicit Job(When when = When::kSettled) : when_(when) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;
  virtual void run(Executor& executor) = 0;
  When when() const { return when_; }
  // Returns the value whose bytes are all that the job waits for; none for
  // other jobs. Then the bytes may be copied behind the tasks enqueued so far,
  // while later tasks run. Once they are there and the outcomes are known,
  // run_on() is called instead of run(), with the bytes or with the error of
  // the copy.
  virtual Wanted wants() const { return {}; }
  virtual void run_on(Executor& /*executor*/, Result<const void*> /*bytes*/) {}

 private:
  When when_;
};

// A job that calls run(executor).
template <typename Run>
std::unique_ptr<Job> make_job(Run run, Job::When when = Job::When::kSettled) {
  class Calling final : public Job {
   public:
    Calling(Run r, When when) : Job(when), run_(std::move(r)) {}
    void run(Executor& executor) override { run_(executor); }

   private:
    Run run_;
  };
  return std::make_unique<Calling>(std::move(run), when);
}

// The record of a job in the ring. `seq` is the number of its instruction among
// those of all workers.
struct JobRecord {
  RecordHead head;
  Job* job;
  uint64_t seq;
};
inline constexpr size_t kJobWords = sizeof(JobRecord) / sizeof(uint64_t);

class Executor final : public Queue::Handler {
 public:
  Executor(Backend& backend, Saves& saves, Writer& out, ReportSink reports,
           const ExecutorOptions& options);

  void run(uint64_t* record) override;
  void idle() override;
  void sleeps() override { meter_.pause(Meter::Pause::kIdle); }
  void wakes() override {
    meter_.resume();
    backend_.device().was_idle();
  }
  bool awaits(bool is_idle) override;
  void run_task(TaskRecord& task);

  // Reports a failed line to the sink, and keeps the worst status. A failure
  // with the same reason as an earlier one (base/reported.h) is not reported
  // again but counted for report_counts(). Nothing is reported after the
  // executor has stopped. The error's column is that of the op, unless an
  // operand is to blame.
  void report(const Where& origin, const Error& error, std::string_view line,
              Exit status);

  // From now on reports of lines are written among the results ("#reports",
  // stream/marks.h) instead of going to the sink.
  void write_reports() { writes_reports_ = true; }

  // A job may change the faults of values only once the tasks before it are
  // settled.
  Interpreter& interpreter() { return interpreter_; }
  SpeculativeIssue& speculative_issue() { return issue_; }
  const SpeculativeIssue& speculative_issue() const { return issue_; }
  // Returns the fault of all values once the device is lost (Device::loss());
  // null until then. After the loss nothing runs any more, and the status is
  // Exit::kLost.
  const Fault& loss();
  // Any thread.
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  Backend& backend() { return backend_; }
  Saves& saves() { return saves_; }
  Trace* trace() { return trace_; }
  // Runs an instruction that gets a row in the trace, which there must be: with
  // the times of the machine that the device stands for, if that keeps any.
  template <typename Run>
  void run_traced(const TraceText& row, uint64_t line, const Run& run) {
    const Device& device = backend_.device();
    const uint64_t begin = device.done_at();
    if (begin == 0) trace_->begin();
    run();
    if (begin == 0) return trace_->end(row, line);
    trace_->add(row, line, begin, device.done_at());
  }
  Meter& meter() { return meter_; }
  // The writer for results.
  Writer& out() { return outlet_.writer(); }
  std::vector<char>& scratch() { return scratch_; }
  // Must be called when a print was written. It leaves when the queue is idle,
  // or before much more is computed; the saves before it are written first.
  void wrote();
  // Must be called when a save has begun. Its group (Saves) ends when a result
  // is written, when enough other lines have run, or when no input comes.
  void begun_save();
  // Says that no input has come since this time, steady_ns(); 0: it comes
  // again. Any thread may call it.
  void note_quiet(int64_t since) {
    quiet_since_.store(since, std::memory_order_relaxed);
  }
  // meet_save() must be called when the queue comes to a save to `path`; it
  // returns the save's ticket (Saves). reach_save() must be called once
  // everything before the save is settled, when the save is begun or dropped.
  uint64_t meet_save(const std::string& path);
  void reach_save(uint64_t ticket);
  // Must be called before a result of so many elements is written. Waits for
  // saves first if holding such a result back would take much memory.
  void expect_result(int64_t elements);
  // To be called when all instructions up to number `seq` have run. Returns the
  // last instruction up to which it is known whether the files that were saved
  // are written.
  uint64_t settled_up_to(uint64_t seq) const {
    const uint64_t saves = saves_from_.load(std::memory_order_relaxed);
    return saves == 0 ? seq : std::min(seq, saves - 1);
  }
  // From now on `call` is called whenever settled_up_to() may return more.
  void when_saved(std::function<void()> call) { saved_ = std::move(call); }
  // Writes out the results that wait for no save, and reports saves that have
  // failed.
  void let_out();
  // Waits until all saves so far are written, then writes out the results.
  void settle();

  // True if a failure must be known before anything else runs.
  bool looks_at_each() const { return fail_fast_ || issue_.waits(); }
  // True if nothing more is to run, since a line failed under --fail-fast or
  // standard output is lost. Any thread may call it.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Returns the failure at which --fail-fast stopped the executor, "model.gt:7:
  // matmul: ...", or "". For the queue's thread, or for any thread once the
  // queue is drained.
  const std::string& stopped_by() const { return stopped_by_; }
  // Returns the instruction that the queue has come to, or at which it stopped.
  // All before it have run, but prints may still wait for their values. Any
  // thread may call it.
  uint64_t at() const { return at_.load(std::memory_order_acquire); }
  // Returns the last instruction that has run, with all before it, and up to
  // which it is known whether the saves are written. Any thread may call it.
  uint64_t ran_up_to() const {
    const uint64_t reached = at();
    return reached == 0 ? 0 : settled_up_to(reached - 1);
  }
  // Returns the worst status that was reported. Valid once the queue is
  // drained.
  Exit status() const { return status_; }
  // Reports how often failures that were reported once came again. Must be
  // called when the queue is drained. `was_written` is that of
  // Reported::take_counts().
  void report_counts(bool was_written);
  // If standard output can no longer be written, stops the executor and reports
  // that.
  void check_output();

 private:
  // Called before work of that cost in nanoseconds runs: writes out the waiting
  // results if too much has run since they were made.
  void hold_output(uint64_t cost);
  void run_job(std::unique_ptr<Job> job);
  std::shared_ptr<DeviceDownload> download(const Job::Wanted& wanted);
  bool awaits_device(bool is_idle);
  bool awaits_saves();
  void tell_failed_saves();
  void note_saves();
  void settle_before(const TaskRecord& task);
  void run_traced(TaskRecord& task);
  void run_metered(TaskRecord& task);
  Fault failure(const TaskRecord& task, const Error& error);

  Backend& backend_;
  Saves& saves_;
  Outlet outlet_;
  ReportSink reports_;
  bool fail_fast_;
  Trace* trace_;
  Meter meter_;
  // The enqueuing thread reads it for every line, so it has a cache line of its
  // own.
  alignas(64) std::atomic<bool> stopped_{false};
  alignas(64) std::atomic<uint64_t> at_{0};
  // The first instruction with a save that is not written yet; 0 if there is
  // none.
  std::atomic<uint64_t> saves_from_{0};
  std::string stopped_by_;
  bool output_lost_ = false;
  bool writes_reports_ = false;
  bool has_output_ = false;  // results or saves wait to be written out
  // Instructions whose save was met but not reached.
  std::deque<uint64_t> met_saves_;
  std::function<void()> saved_;
  uint64_t held_cost_ = 0;  // of what ran since has_output_ was set
  SaveGroup saved_group_;
  std::atomic<int64_t> quiet_since_{0};
  Exit status_ = Exit::kDone;
  Interpreter interpreter_;
  std::atomic<bool> is_lost_{false};
  Fault lost_;
  const bool is_speculative_;
  SpeculativeIssue issue_;
  Reported reported_;
  std::vector<char> scratch_;
};

}  // namespace gt::exec
