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
}

void Channel::stop(const std::string& why) {
  is_over.store(true);
  inbox.close();
  outbox.close();
  with_worker([&why](Worker& worker) { worker.abort(why); });
}

}  // namespace gt::exec
