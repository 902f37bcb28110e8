// The functions of WorkerPool for those who watch the run: what they are shown,
// and what workers report for them.
#include <algorithm>
#include <utility>

#include "base/message.h"
#include "ops/table.h"
#include "route/worker_pool.h"

namespace gt::route {

void WorkerPool::watch(bool is_on) {
  if (!is_on && !is_watched_) return;
  is_watched_ = is_on;
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    const uint64_t wanted = is_on ? status(w).epoch : 0;
    if (std::exchange(workers_[w].watched, wanted) == wanted) continue;
    // What it told those who watched before is from the past.
    if (is_on) workers_[w].used = {};
    net::MessageWriter message(net::Verb::kWatch);
    host_->send(w, net::Frame(message.field("on", uint64_t{is_on}).finish()));
  }
}

size_t WorkerPool::here() const {
  return is_complete() ? static_cast<size_t>(
                             std::ranges::count(workers_, false, &Worker::left))
                       : host_->state().here();
}

WorkerPool::View WorkerPool::view(uint32_t w) const {
  const Worker& worker = workers_[w];
  const uint64_t done = status(w).done_seq;
  // The line that it waits for may be before the last one that was computed.
  const bool waits = !status(w).waits_for.empty() && status(w).waits_at != 0;
  const uint64_t before = waits ? status(w).waits_at - 1 : done;
  return {status(w),
          deliveries_.line_at(w, before, client_),
          deliveries_.behind(w, done),
          deliveries_.unsent_bytes(w) + deliveries_.on_way_bytes(w) +
              dispatcher_.outbox().size(w),
          worker.results,
          sources_.owes(w),
          worker.left};
}

Status WorkerPool::take_used(uint32_t worker, std::string_view body) {
  auto used = net::parse_used(body);
  if (!used.ok()) return Error{"said " + used.error().message};
  for (const net::OpUsed& op : used.value().ops) {
    if (find_op(op.op) != nullptr) continue;
    return Error{"said state: '" + excerpt(op.op) + "' is no op"};
  }
  workers_[worker].used = std::move(used.value());
  return ok_status();
}

}  // namespace gt::route
