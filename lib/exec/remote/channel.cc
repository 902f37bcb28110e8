#include "exec/remote/channel.h"

#include <utility>

namespace gt::exec {

void Channel::leave(Exit with, std::string why) {
  status = with;
  farewell = std::move(why);
  has_left.store(true);
  wake.signal();
}

void Channel::set_worker(Worker* worker) {
  const std::lock_guard lock(mutex_);
  worker_ = worker;
  if (worker_ == nullptr) return;
  for (const Loss& loss : losses_) worker_->lose(loss.worker, loss.why);
}

void Channel::lose(uint32_t other, const std::string& why) {
  const std::lock_guard lock(mutex_);
  losses_.push_back({other, why});
  if (worker_ != nullptr) worker_->lose(other, why);
}

void Channel::stop(const std::string& why) {
  is_over.store(true);
  inbox.close();
  outbox.close();
  with_worker([&why](Worker& worker) { worker.abort(why); });
}

}  // namespace gt::exec
