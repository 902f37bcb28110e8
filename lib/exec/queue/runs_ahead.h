// The tasks that a device has been given ahead of what is known of them. Where
// kernels leave checks, whether a line meets wrong data is known once the
// device has done it, and nothing waits for that: the tasks that follow are
// given to the device meanwhile, and what they make of a value that then turns
// out to be none is never seen. As outcomes become known, in order, the log is
// settled: faults spread, and failures are reported, as if each task had
// waited.
//
// Blocks of tasks that come again are recorded by a device that can do so, and
// given to it as one piece (repeats.h).
//
// Used by the thread of the compute queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/memory/device.h"
#include "exec/queue/interpreter.h"
#include "exec/queue/repeats.h"
#include "exec/queue/task.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"

namespace gt::exec {

class RunsAhead final : private Repeats::Runner {
 public:
  // Reports that a step of the task failed, and gives the fault of what it was
  // to make.
  using Failed = std::function<Fault(const TaskRecord&, const Error&)>;
  // `waits` is called before the thread waits for an outcome.
  RunsAhead(Device& device, Interpreter& interpreter, Failed failed,
            std::function<void()> waits);

  // From now on each task gets a row of the trace, in the device's time, which
  // is asked for as outcomes are.
  void record_times(Trace& trace) { trace_ = &trace; }
  bool records_times() const { return trace_ != nullptr; }
  // From now on each task is waited for.
  void wait_for_each() { waits_ = true; }
  bool waits() const { return waits_; }
  // From now on blocks that come again are recorded, if the device records.
  void record_repeats();
  // Where the task stands that the device names (Device::loss()); none if that
  // was long ago.
  struct Named {
    uint64_t task = 0;
    Where origin;
    const Op* op = nullptr;
  };
  std::optional<Named> find(uint64_t task) const;
  // The number of the task that runs, or has run last.
  uint64_t last() const { return last_; }

  // Runs a task: ahead or, while a fault is known, not, since then what reads
  // it is to be left out. It may be held back for those that follow.
  void run(TaskRecord& task);
  // What was written there is read no more by tasks that follow.
  void forget(const ForgetRecord& forget);
  // Runs those that are held back, which comes before all that is not a task.
  void run_held();
  bool holds() const { return repeats_ && repeats_->holds(); }
  // To be asked again and again while there are no more tasks: whether more are
  // awaited behind those that are held back. They are, as long as who enqueues
  // is busy; once that `is_idle`, for a moment more.
  bool awaits_more(bool is_idle);
  // Whether the outcomes of all tasks so far are known.
  bool is_settled() const { return log_.empty() && !holds(); }
  // Takes the outcomes that are known of tasks that are not held back; with
  // `waits` those of all of them.
  void settle(bool waits);
  // Calls it once all tasks so far are settled and, if there is a download,
  // that is done: at once if so.
  void after(std::function<void()> call,
             std::shared_ptr<DeviceDownload> download = nullptr);
  // Null without recordings.
  const Repeats* repeats() const { return repeats_ ? &*repeats_ : nullptr; }

 private:
  // The most in the log, and the most words of tasks there.
  static constexpr size_t kMost = 4096;
  static constexpr size_t kMostWords = size_t{1} << 18;
  static constexpr int kPatience = 4;
  static constexpr size_t kNamed = size_t{1} << 15;
  // Where nothing else does, outcomes are asked for whenever so many tasks were
  // run.
  static constexpr size_t kSome = 64;
  // Or whenever so much time has passed, so that what was printed is not kept
  // back by tasks that take long.
  static constexpr std::chrono::milliseconds kOften{10};
  // The most downloads that are under way; beyond them the oldest is waited
  // for.
  static constexpr size_t kMostDownloads = 64;

  struct Entry {
    Tasks tasks;
    std::vector<Interpreter::Outcome> outcomes;
    std::function<void()> call;                // if it is no tasks
    std::shared_ptr<DeviceDownload> download;  // that the call waits for
    const TraceText* row = nullptr;    // if it is a row of the trace instead
    uint64_t line = 0;                 // of the row
    std::optional<Device::Span> span;  // that the row says
  };
  // ---- Repeats::Runner
  void run_each(Tasks& tasks) override;
  std::unique_ptr<Repeats::Recording> record(
      Tasks& tasks, std::unique_ptr<Repeats::Recording> old) override;
  bool replay(Tasks& tasks, const Repeats::Recording& recording) override;

  void give(TaskRecord& task);
  bool give_one(TaskRecord& task);
  bool is_time_to_ask();
  void name_next(const TaskRecord& task);
  void log(Tasks tasks, std::vector<Interpreter::Outcome> outcomes);
  // Whether an outcome is not known yet, so that tasks without one are to be
  // logged as well: they may read a value that turns out to be none.
  bool is_unsure() const { return logged_tasks_ > 0; }
  bool is_full() const {
    return log_.size() >= kMost || logged_words_ >= kMostWords;
  }
  void take_held_calls();
  void add_row(TaskRecord& task);
  bool settle_oldest(bool waits);
  bool is_known(Entry& entry, bool waits);
  bool ask(Entry& entry, bool waits);
  void finish(Entry& entry);

  Device& device_;
  Interpreter& interpreter_;
  Failed failed_;
  std::function<void()> before_wait_;
  std::optional<Repeats> repeats_;
  std::vector<std::function<void()>> held_calls_;  // for after held tasks
  int patience_ = kPatience;  // how often it may still be asked
  std::deque<Entry> log_;
  size_t logged_words_ = 0;
  size_t logged_tasks_ = 0;
  size_t downloads_ = 0;  // in the log
  size_t unasked_ = 0;    // tasks since outcomes were asked for
  std::chrono::steady_clock::time_point asked_{};
  std::vector<Interpreter::Outcome> outcomes_;  // of the task that runs
  Trace* trace_ = nullptr;
  bool waits_ = false;
  uint64_t last_ = 0;
  std::vector<Named> named_;  // the last tasks
};

}  // namespace gt::exec
