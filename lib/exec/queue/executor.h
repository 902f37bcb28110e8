// The far side of the compute queue: runs recipes, spreads failures, writes
// results. Everything here belongs to the queue's thread, apart from what says
// otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/exit.h"
#include "base/reported.h"
#include "base/writer.h"
#include "exec/backend/backend.h"
#include "exec/decode/recipe.h"
#include "exec/queue/queue.h"
#include "exec/storage/saves.h"
#include "exec/trace/trace.h"
#include "exec/worker/report.h"
#include "exec/worker/where.h"

namespace gt {

// A recipe to run. `values` are the addresses of its arguments and blocks, as
// its steps number them; literals follow, and the arguments point to them. With
// a trace, a pointer to the line's TraceText stands last.
struct TaskRecord {
  RecordHead head;
  const std::string* file;
  const Recipe* recipe;
  const char* text;  // the line, for a message
  uint64_t text_size;
  uint64_t seq;  // as JobRecord's

  void** values() { return reinterpret_cast<void**>(this + 1); }
  Where origin() const { return {file, head.line}; }
};
inline constexpr size_t kTaskWords = sizeof(TaskRecord) / sizeof(uint64_t);

class Executor;

// Anything else, made on the heap: prints, saves, messages, what ends a
// recipe's life. Deleted once it has run.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run(Executor& executor) = 0;
};

// `seq` is the number of the instruction among those of all workers.
struct JobRecord {
  RecordHead head;
  Job* job;
  uint64_t seq;
};
inline constexpr size_t kJobWords = sizeof(JobRecord) / sizeof(uint64_t);

enum RecordKind : uint8_t { kTaskRecord = 1, kJobRecord = 2 };

// A failure that spreads; what a print of a poisoned value says.
using Fault = std::shared_ptr<const std::string>;

// A kernel that finds no scratch memory, or whose library gives up, fails like
// one that finds bad data.
Status run_kernel(Kernel& kernel, std::span<const void* const> in,
                  std::span<void* const> out);

class Executor final : public Queue::Handler {
 public:
  // `trace` is null unless what runs is to be recorded.
  Executor(Backend& backend, Saves& saves, Writer& out, ReportSink reports,
           bool fail_fast, Trace* trace);

  void run(uint64_t* record) override;
  void idle() override;
  void run_task(TaskRecord& task);

  // Reports a failed line once, and remembers the status.
  void report(const Where& origin, const Error& error, std::string_view line,
              Exit status);

  // The failure that `data` holds, or null.
  const Fault* fault_of(const void* data) const;
  void forget(const void* data);  // the memory goes back, or holds a value
  void poison(const void* data, const Fault& fault) { faults_[data] = fault; }
  Backend& backend() { return backend_; }
  Saves& saves() { return saves_; }
  Trace* trace() { return trace_; }
  Writer& out() { return out_; }
  std::vector<char>& scratch() { return scratch_; }
  // A print was written, or a save waits for others: it leaves when the queue
  // is idle, or before much more is computed.
  void wrote() { has_output_ = true; }

  // Nothing more is to be done: --fail-fast, or standard output is lost. Any
  // thread may ask.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // The failure at which --fail-fast stopped it, "model.gt:7: matmul: ..."; ""
  // as long as there is none. For the queue's thread, and once it is drained.
  const std::string& stopped_by() const { return stopped_by_; }
  // Any thread: the instruction that the queue has come to, or at which it
  // stopped; all before it have run.
  uint64_t at() const { return at_.load(std::memory_order_relaxed); }
  // To be asked once the queue is drained.
  Exit status() const { return status_; }
  // Tells how often failures that were told once came again, see Reported; once
  // the queue is drained.
  void report_counts(bool was_written);
  void check_output();

 private:
  // Work of that cost comes next.
  void hold_output(uint64_t cost);
  void settle_saves();
  void run_traced(TaskRecord& task);
  void run_steps(TaskRecord& task);
  void run_step(TaskRecord& task, const RecipeStep& step);
  void run_simple_careful(TaskRecord& task);
  Fault failure(TaskRecord& task, const Error& error);
  Fault first_fault(std::span<const void* const> in) const;
  void set_faults(std::span<void* const> out, const Fault& fault);

  Backend& backend_;
  Saves& saves_;
  Writer& out_;
  ReportSink reports_;
  bool fail_fast_;
  Trace* trace_;
  // The enqueuing thread reads it for every line, so it has a cache line of its
  // own.
  alignas(64) std::atomic<bool> stopped_{false};
  alignas(64) std::atomic<uint64_t> at_{0};
  std::string stopped_by_;
  bool output_lost_ = false;
  bool has_output_ = false;  // not flushed
  uint64_t held_cost_ = 0;   // of what ran since it was written
  Exit status_ = Exit::kDone;
  // By address; empty as long as nothing fails, which is quick to see.
  std::unordered_map<const void*, Fault> faults_;
  Reported reported_;
  std::vector<const void*> in_;
  std::vector<void*> results_;
  std::vector<char> scratch_;
};

}  // namespace gt
