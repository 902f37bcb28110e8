// ComputeQueue is the compute queue as the enqueuing thread uses it: the ring
// of tasks and jobs, and the executor that runs them on the queue's own thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/memory/pool.h"
#include "exec/queue/executor.h"
#include "exec/queue/jobs.h"
#include "exec/queue/queue.h"

namespace gt::exec {

// Everything enqueued belongs to the instruction that set_seq() named last. As
// the owner of the pool, it gives memory back to the device in queue order.
class ComputeQueue final : public Pool::Owner {
 public:
  // Tasks that the enqueuing thread holds back.
  class Held {
   public:
    virtual ~Held() = default;
    virtual void enqueue() = 0;
  };

  // The arguments are those of Executor.
  ComputeQueue(Backend& backend, Saves& saves, Writer& out, ReportSink reports,
               const ExecutorOptions& options)
      : executor_(backend, saves, out, std::move(reports), options),
        most_cost_(backend.device().puts_off() ? kGiveCost : ~uint64_t{0}),
        queue_(executor_) {}

  // Sets the number of the next instruction among those of all workers.
  void set_seq(uint64_t seq) { seq_ = seq; }
  uint64_t seq() const { return seq_; }

  // Enqueues a job. `cost` is its estimated time in nanoseconds.
  void add(std::unique_ptr<Job> job, uint64_t cost = kJobCost);
  // Deletes the object once all that was enqueued or held before has run.
  template <typename T>
  void dispose(std::unique_ptr<T> object) {
    auto job = dispose_job(std::move(object));
    if (held_ != nullptr) return behind_held_.push_back(std::move(job));
    add(std::move(job), 0);
  }
  // Has `held` enqueue its tasks before anything else is enqueued, and before
  // the enqueuing thread sleeps.
  void hold(Held& held) { held_ = &held; }
  void let_go() {
    if (held_ != nullptr) [[unlikely]]
      enqueue_held();
  }
  // Enqueues the report of a line that fails with this error and exit status,
  // and returns the fault for the values that the line would have made.
  Fault fail(const Where& origin, Error error, std::string line, Exit status);

  // Returns room for a task's record, which must be written and committed
  // before anything else is enqueued. Null if the record is too long for the
  // ring; then the caller uses add_great().
  uint64_t* reserve(size_t words) {
    let_go();
    return words > Queue::kMaxRecord ? nullptr : queue_.reserve(words);
  }
  void commit(size_t words, uint64_t cost) {
    queue_.commit(words, std::min(cost, most_cost_));
  }
  void add_great(std::vector<uint64_t> words, uint64_t cost) {
    add(task_job(std::move(words)), cost);
  }

  void kick() {
    let_go();
    queue_.kick();
  }
  // Sets the function that is called when the pool has no memory. It waits
  // until some comes back, or returns false if none will
  // (Pool::Owner::reclaim()).
  void set_reclaim(std::function<bool()> reclaim) {
    reclaim_ = std::move(reclaim);
  }
  Executor& executor() { return executor_; }
  const Executor& executor() const { return executor_; }

  // ---- Pool::Owner
  void release_later(std::unique_ptr<Value> value, size_t bytes) override {
    add(release_job(std::move(value), bytes));
  }
  void forget(const Value& value) override;
  void drain() override {
    add(settled_job(), 0);
    queue_.drain();
  }
  void end() override { queue_.end(); }
  bool reclaim() override { return reclaim_ && reclaim_(); }

 private:
  // The time to give a task to a device that runs it later, in nanoseconds. It
  // caps the cost of a task there, so that the queue's thread is woken for many
  // tasks at a time, however long the device takes for each.
  static constexpr uint64_t kGiveCost = 1000;

  void enqueue_held();

  Executor executor_;
  uint64_t most_cost_;
  Held* held_ = nullptr;
  std::vector<std::unique_ptr<Job>> behind_held_;
  Queue queue_;
  uint64_t seq_ = 0;
  std::function<bool()> reclaim_;
};

}  // namespace gt::exec
