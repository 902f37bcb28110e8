#include "exec/backend/cuda/background.h"

#include <utility>

namespace gt::exec::cuda {

void Background::add(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(task));
  if (waiting_.size() > idle_ && threads_.size() < kMost) {
    threads_.emplace_back([this] { loop(); });
  }
  changed_.notify_one();
}

void Background::end() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

void Background::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    --idle_;
    if (is_ending_) return;
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace gt::exec::cuda
