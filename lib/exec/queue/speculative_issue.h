// SpeculativeIssue gives tasks to a device before the outcomes of earlier tasks
// are known. Where kernels leave checks, it is known only after the device has
// run a line whether it met bad data. Nothing waits for that: later tasks are
// given to the device meanwhile, and what they compute from a value that then
// turns out to have failed is never seen. As outcomes become known, in order,
// the log of tasks is settled: faults spread, and failures are reported, as if
// each task had waited.
//
// A device that can record work is given blocks of repeating tasks as one piece
// (repeats.h).
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

class SpeculativeIssue final : private Repeats::Runner {
 public:
  // Reports that a step of the task failed, and returns the fault for the
  // values that the step would have made.
  using Failed = std::function<Fault(const TaskRecord&, const Error&)>;
  // `failed` is called for each failure, `waits` before the thread waits for an
  // outcome.
  SpeculativeIssue(Device& device, Interpreter& interpreter, Failed failed,
                   std::function<void()> waits);

  // From now on each task gets a row in the trace. Its times are the device's,
  // which are read when outcomes are.
  void record_times(Trace& trace) { trace_ = &trace; }
  bool records_times() const { return trace_ != nullptr; }
  // From now on waits until each task has run.
  void wait_for_each() { waits_ = true; }
  bool waits() const { return waits_; }
  // From now on records repeating blocks, if the device can record.
  void record_repeats();
  // Finds the line of the task whose number the device reports
  // (Device::loss()); none if the task ran too long ago.
  struct Named {
    uint64_t task = 0;
    Where origin;
    const Op* op = nullptr;
  };
  std::optional<Named> find(uint64_t task) const;
  // Returns the number of the task that was given to the device last.
  uint64_t last() const { return last_; }

  // Runs a task. It is issued speculatively, except while a value is known to
  // have a fault, since then tasks that read it must be skipped. It may be held
  // back with those that follow it.
  void run(TaskRecord& task);
  // Tells the device that later tasks do not read what was written at an
  // address (Device::forget()).
  void forget(const ForgetRecord& forget);
  // Runs the tasks held back; must be called before anything runs that is not a
  // task.
  void run_held();
  bool holds() const { return repeats_ && repeats_->holds(); }
  // To be called repeatedly while no more tasks come: true while more tasks are
  // expected behind those held back. They are expected as long as the enqueuing
  // thread is busy, and for a few calls more once it `is_idle`.
  bool awaits_more(bool is_idle);
  // True if the outcomes of all tasks so far are known.
  bool is_settled() const { return log_.empty() && !holds(); }
  // Takes the known outcomes of the tasks that are not held back; with `waits`,
  // waits for all of their outcomes.
  void settle(bool waits);
  // Calls `call` once all tasks so far are settled and `download`, if there is
  // one, is done; at once if that is so already.
  void after(std::function<void()> call,
             std::shared_ptr<DeviceDownload> download = nullptr);
  // Null if no blocks are recorded.
  const Repeats* repeats() const { return repeats_ ? &*repeats_ : nullptr; }

 private:
  // The most entries in the log, and the most words of tasks in it.
  static constexpr size_t kMost = 4096;
  static constexpr size_t kMostWords = size_t{1} << 18;
  // How often awaits_more() returns true while the enqueuing thread is idle.
  static constexpr int kPatience = 4;
  // How many of the last tasks find() knows.
  static constexpr size_t kNamed = size_t{1} << 15;
  // Outcomes are asked for at least once every so many tasks.
  static constexpr size_t kSome = 64;
  // They are also asked for when so much time has passed, so that long tasks do
  // not delay what was printed.
  static constexpr std::chrono::milliseconds kOften{10};
  // The most downloads under way; when there are more, the oldest is waited
  // for.
  static constexpr size_t kMostDownloads = 64;

  // An entry of the log: tasks, or a call, or a row of the trace.
  struct Entry {
    Tasks tasks;
    std::vector<Interpreter::Outcome> outcomes;
    std::function<void()> call;  // of an entry that is a call
    // What the call waits for, or null.
    std::shared_ptr<DeviceDownload> download;
    const TraceText* row = nullptr;    // of an entry that is a row
    uint64_t line = 0;                 // the row's line
    std::optional<Device::Span> span;  // the row's times, once they are known
  };
  // ---- Repeats::Runner
  void run_each(Tasks& tasks) override;
  std::unique_ptr<Repeats::Recording> record(
      Tasks& tasks, std::unique_ptr<Repeats::Recording> old) override;
  bool replay(Tasks& tasks, const Repeats::Recording& recording) override;
  void ran_held() override;

  void give(TaskRecord& task);
  bool give_one(TaskRecord& task);
  bool is_time_to_ask();
  void name_next(const TaskRecord& task);
  void log(Tasks tasks, std::vector<Interpreter::Outcome> outcomes);
  // True if the outcome of some task is not known yet. Then tasks without
  // outcomes must be logged too, since they may read a value that turns out to
  // have failed.
  bool is_unsure() const { return logged_tasks_ > 0; }
  bool is_full() const {
    return log_.size() >= kMost || logged_words_ >= kMostWords;
  }
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
  // Calls that wait for the tasks held back.
  std::vector<std::function<void()>> held_calls_;
  int patience_ = kPatience;  // true answers that awaits_more() has left
  std::deque<Entry> log_;
  size_t logged_words_ = 0;
  size_t logged_tasks_ = 0;
  size_t downloads_ = 0;  // of entries in the log
  size_t unasked_ = 0;    // tasks given since outcomes were last asked for
  std::chrono::steady_clock::time_point asked_{};
  std::vector<Interpreter::Outcome> outcomes_;  // of the task being given
  Trace* trace_ = nullptr;
  bool waits_ = false;
  uint64_t last_ = 0;
  std::vector<Named> named_;  // the last kNamed tasks, by number modulo kNamed
};

}  // namespace gt::exec
