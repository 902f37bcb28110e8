// Compute, as the thread that enqueues sees it: the queue and what runs it.
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

// All that is enqueued belongs to the instruction that set_seq() named last.
// As the owner of the pool it gives memory back in queue order.
class ComputeQueue final : public Pool::Owner {
 public:
  // The arguments are those of Executor.
  ComputeQueue(Backend& backend, Saves& saves, Writer& out, ReportSink reports,
               const ExecutorOptions& options)
      : executor_(backend, saves, out, std::move(reports), options),
        most_cost_(backend.device().puts_off() ? kGiveCost : ~uint64_t{0}),
        queue_(executor_) {}

  // `seq` numbers the instruction that comes next among those of all workers.
  void set_seq(uint64_t seq) { seq_ = seq; }
  uint64_t seq() const { return seq_; }

  // `cost` in nanoseconds, roughly.
  void add(std::unique_ptr<Job> job, uint64_t cost = kJobCost);
  // Deletes the object once all that was enqueued before has run.
  template <typename T>
  void dispose(std::unique_ptr<T> object) {
    add(dispose_job(std::move(object)), 0);
  }
  // Reports why a line fails, and returns the fault of what it was to make.
  Fault fail(const Where& origin, Error error, std::string line, Exit status);

  // Room for a task's record, to be written and committed before anything else
  // is enqueued; null for one that is too great, which goes to add_great().
  uint64_t* reserve(size_t words) {
    return words > Queue::kMaxRecord ? nullptr : queue_.reserve(words);
  }
  void commit(size_t words, uint64_t cost) {
    queue_.commit(words, std::min(cost, most_cost_));
  }
  void add_great(std::vector<uint64_t> words, uint64_t cost) {
    add(task_job(std::move(words)), cost);
  }

  void kick() { queue_.kick(); }
  // `reclaim` is called when the pool has no memory: it waits until some comes
  // back, or gives false if none will (Pool::Owner::reclaim()).
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
  // What it takes to give a task to a device that does it later, in
  // nanoseconds: there the queue's thread is woken for many tasks, however long
  // the device has with each.
  static constexpr uint64_t kGiveCost = 1000;

  Executor executor_;
  uint64_t most_cost_;
  Queue queue_;
  uint64_t seq_ = 0;
  std::function<bool()> reclaim_;
};

}  // namespace gt::exec
