// What the thread of the compute queue does: it runs the recipes of lines and
// all other jobs, writes results, and reports failures.
//
// When a kernel fails, which may be known later than the next ones are run
// (runs_ahead.h), its line is reported once, and the reason becomes the
// fault of what the line makes (interpreter.h). A line that fails only because
// an operand has failed is not reported: its results take over that fault, and
// a print of one says it.
//
// All calls come from the queue's thread, but for those that say otherwise.
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
#include "exec/queue/runs_ahead.h"
#include "exec/queue/task.h"
#include "exec/storage/saves.h"
#include "exec/trace/meter.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"

namespace gt::exec {

class Executor;

// How an executor runs what it is given. It is told before its thread begins,
// which may look at any of it before there is a task.
struct ExecutorOptions {
  bool fail_fast = false;        // nothing runs behind the first failure
  Trace* trace = nullptr;        // gets rows of what runs
  bool waits_for_each = false;   // RunsAhead::wait_for_each()
  bool records_repeats = false;  // RunsAhead::record_repeats()
};

// Anything else that a queue runs, on the heap: a print, a save, a message for
// people, the deletion of what tasks before it use. Deleted once it has run.
class Job {
 public:
  // When it runs, if outcomes of tasks before it are not known yet
  // (runs_ahead.h): it waits for them, as whatever reads a fault must; it runs
  // once they are known, behind tasks that come after it; or it runs at once.
  enum class When : uint8_t { kSettled, kLater, kAtOnce };

  // A value that a job wants to have on the host.
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
  // Of a job that waits only to have a value's bytes: which. Then they may be
  // copied behind the tasks so far, while those that follow run; once they are
  // there, and outcomes are known, run_on() is called in the stead of run(),
  // with them or with why there are none.
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

// The record of a job. `seq` is the number of its instruction among those of
// all workers.
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
  void wakes() override { meter_.resume(); }
  bool awaits(bool is_idle) override;
  void run_task(TaskRecord& task);

  // Reports a line that failed to the sink, and remembers the status. It is not
  // told again when it fails for the same reason as before (base/reported.h):
  // then it is counted, for report_counts(). After the executor has stopped
  // nothing is reported. The error's column is that of the op where no operand
  // is to blame.
  void report(const Where& origin, const Error& error, std::string_view line,
              Exit status);

  // From now on reports of lines are written among the results ("#reports",
  // stream/marks.h), and not told to the sink.
  void write_reports() { writes_reports_ = true; }

  // What a job does to the faults of values, it does once tasks are settled.
  Interpreter& interpreter() { return interpreter_; }
  RunsAhead& runs_ahead() { return ahead_; }
  const RunsAhead& runs_ahead() const { return ahead_; }
  // The fault of all values, once the device is lost (Device::loss()): nothing
  // runs any more, and its status is Exit::kLost. Null as long as it is well.
  const Fault& loss();
  // Any thread.
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  Backend& backend() { return backend_; }
  Saves& saves() { return saves_; }
  Trace* trace() { return trace_; }
  Meter& meter() { return meter_; }
  // Where results are written.
  Writer& out() { return outlet_.writer(); }
  std::vector<char>& scratch() { return scratch_; }
  // To be called when a print was written or a save has begun. Both leave when
  // the queue is idle, or before much more is computed.
  void wrote();
  // To be called when the queue has come to a save to the path, which gets a
  // ticket; and once all before it is settled, when it is begun or dropped.
  uint64_t meet_save(const std::string& path);
  void reach_save(uint64_t ticket);
  // A result of so many elements comes, which would be much to hold.
  void expect_result(int64_t elements);
  // Once all instructions up to number `seq` have run: the last of these for
  // which, as for all before it, it is known whether the files that it saves
  // are written.
  uint64_t settled_up_to(uint64_t seq) const {
    const uint64_t saves = saves_from_.load(std::memory_order_relaxed);
    return saves == 0 ? seq : std::min(seq, saves - 1);
  }
  // From now on it is called whenever more of that is known.
  void when_saved(std::function<void()> call) { saved_ = std::move(call); }
  // Lets results leave that no save keeps; says why saves have failed.
  void let_out();
  // Waits until all saves so far are written, and lets results leave.
  void settle();

  // Whether what fails is to be known before anything else is done.
  bool looks_at_each() const { return fail_fast_ || ahead_.waits(); }
  // Whether nothing more is to be done, since a line failed under --fail-fast
  // or standard output is lost. Any thread may ask.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // The failure at which --fail-fast stopped it, "model.gt:7: matmul: ..."; ""
  // as long as there is none. For the queue's thread, or for any once the queue
  // is drained.
  const std::string& stopped_by() const { return stopped_by_; }
  // Any thread: the instruction that the queue has come to, or at which it
  // stopped; all before it have run, but prints may wait for their values.
  uint64_t at() const { return at_.load(std::memory_order_acquire); }
  // Any thread: the last instruction that has run with all before it, and of
  // which it is known whether what they save is written.
  uint64_t ran_up_to() const {
    const uint64_t reached = at();
    return reached == 0 ? 0 : settled_up_to(reached - 1);
  }
  // The worst of what was reported; to be asked once the queue is drained.
  Exit status() const { return status_; }
  // Reports how often failures that were told once came again; to be called
  // once the queue is drained. `was_written`: as Reported::take_counts().
  void report_counts(bool was_written);
  // Stops, and reports it, if standard output can no longer be written.
  void check_output();

 private:
  // Writes what waits to leave if too much has run since; work of that cost
  // comes next.
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
  // The first instruction with a save that is not written; 0: there is none.
  std::atomic<uint64_t> saves_from_{0};
  std::string stopped_by_;
  bool output_lost_ = false;
  bool writes_reports_ = false;
  bool has_output_ = false;         // not flushed
  std::deque<uint64_t> met_saves_;  // the instructions of those not reached
  std::function<void()> saved_;
  uint64_t held_cost_ = 0;  // of what ran since it was written
  Exit status_ = Exit::kDone;
  Interpreter interpreter_;
  std::atomic<bool> is_lost_{false};
  Fault lost_;
  const bool runs_ahead_;
  RunsAhead ahead_;
  Reported reported_;
  std::vector<char> scratch_;
};

}  // namespace gt::exec
