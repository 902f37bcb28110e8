#include "exec/queue/compute_queue.h"

#include <utility>

namespace gt::exec {

void ComputeQueue::enqueue_held() {
  std::exchange(held_, nullptr)->enqueue();
  for (std::unique_ptr<Job>& job : std::exchange(behind_held_, {})) {
    add(std::move(job), 0);
  }
}

void ComputeQueue::add(std::unique_ptr<Job> job, uint64_t cost) {
  let_go();
  auto* to = reinterpret_cast<JobRecord*>(queue_.reserve(kJobWords));
  to->head = head_of(kJobWords, kJobRecord, 0);
  to->job = job.release();
  to->seq = seq_;
  commit(kJobWords, cost);
}

void ComputeQueue::forget(const Value& value) {
  let_go();
  auto* to = reinterpret_cast<ForgetRecord*>(queue_.reserve(kForgetWords));
  to->head = head_of(kForgetWords, kForgetRecord, 0);
  to->data = value.data;
  queue_.commit(kForgetWords, 0);
}

Fault ComputeQueue::fail(const Where& origin, Error error, std::string line,
                         Exit status) {
  auto fault = std::make_shared<const std::string>(to_string(origin.place()) +
                                                   ": " + error.message);
  add(report_job(origin, std::move(error), std::move(line), status));
  return fault;
}

}  // namespace gt::exec
