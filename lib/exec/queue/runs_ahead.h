// The tasks that a device has been given ahead of what is known of them. Where
// kernels leave checks, whether a line meets wrong data is known once the
// device has done it, and nothing waits for that: the tasks that follow are
// given to the device meanwhile, and what they make of a value that then turns
// out to be none is never seen. As outcomes become known, in order, the log is
// settled: faults spread, and failures are reported, as if each task had
// waited.
//
// Used by the thread of the compute queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/memory/device.h"
#include "exec/queue/interpreter.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"

namespace gt::exec {

struct TaskRecord;

class RunsAhead {
 public:
  // Reports that a step of the task failed, and gives the fault of what it was
  // to make.
  using Failed = std::function<Fault(const TaskRecord&, const Error&)>;
  RunsAhead(Device& device, Interpreter& interpreter, Failed failed)
      : device_(device),
        interpreter_(interpreter),
        failed_(std::move(failed)) {}

  // From now on each task gets a row of the trace, in the device's time, which
  // is asked for as outcomes are.
  void record_times(Trace& trace) { trace_ = &trace; }
  bool records_times() const { return trace_ != nullptr; }
  // From now on each task is waited for.
  void wait_for_each() { waits_ = true; }
  bool waits() const { return waits_; }
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
  // it is to be left out.
  void run(TaskRecord& task);
  // Whether the outcomes of all tasks so far are known.
  bool is_settled() const { return log_.empty(); }
  // Takes the outcomes that are known; with `waits` those of all tasks.
  void settle(bool waits);
  // Calls it once all tasks so far are settled: at once if they are.
  void after(std::function<void()> call);

 private:
  static constexpr size_t kMost = 4096;  // in the log
  // Where nothing else does, outcomes are asked for whenever so many were
  // added.
  static constexpr size_t kSome = 64;

  struct Entry {
    std::vector<uint64_t> task;  // the words of its record, if it is one
    std::vector<Interpreter::Outcome> outcomes;
    std::function<void()> call;        // if it is none
    const TraceText* row = nullptr;    // if it is a row of the trace instead
    uint64_t line = 0;                 // of the row
    std::optional<Device::Span> span;  // that the row says
  };
  bool run_one(TaskRecord& task);
  void add_row(TaskRecord& task);
  bool is_known(Entry& entry, bool waits);
  void finish(Entry& entry);

  Device& device_;
  Interpreter& interpreter_;
  Failed failed_;
  std::deque<Entry> log_;
  std::vector<Interpreter::Outcome> outcomes_;  // of the task that runs
  Trace* trace_ = nullptr;
  bool waits_ = false;
  uint64_t last_ = 0;
  std::vector<Named> named_ = std::vector<Named>(kMost);  // the last tasks
};

}  // namespace gt::exec
