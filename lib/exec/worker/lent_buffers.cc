#include "exec/worker/lent_buffers.h"

#include <algorithm>
#include <utility>

namespace gt::exec {

std::shared_ptr<void> LentBuffers::lend(Buffer* buffer) {
  reap();
  while (is_full() && wait_and_reap()) {
  }
  lent_.push_back(buffer);
  Pool::retain(buffer);
  return {buffer, [returned = returned_](Buffer* given) {
            const std::lock_guard lock(returned->mutex);
            returned->buffers.push_back(given);
            returned->changed.notify_one();
          }};
}

bool LentBuffers::is_full() const {
  if (lent_.size() >= kMost) return true;
  size_t kept = 0;  // bytes that would be free if they were not lent
  for (const Buffer* buffer : lent_) {
    if (buffer->references == 1) kept += class_bytes(buffer->size_class);
  }
  return kept > kFree && kept > pool_.used() - kept;
}

void LentBuffers::reap() {
  if (lent_.empty()) return;
  std::vector<Buffer*> buffers;
  {
    const std::lock_guard lock(returned_->mutex);
    buffers = std::exchange(returned_->buffers, {});
  }
  for (Buffer* buffer : buffers) {
    lent_.erase(std::find(lent_.begin(), lent_.end(), buffer));
    pool_.drop(buffer);
  }
}

bool LentBuffers::wait_and_reap() {
  if (lent_.empty()) return false;
  compute_.kick();
  {
    std::unique_lock lock(returned_->mutex);
    returned_->changed.wait(lock,
                            [this] { return !returned_->buffers.empty(); });
  }
  reap();
  return true;
}

}  // namespace gt::exec
