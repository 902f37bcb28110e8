// Mailbox is a queue of messages between threads: from the one that talks to
// gt-route to the one that decodes, and back from those that compute.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace gt::exec {

// It is bounded in bytes. A thread that pushes sleeps while it is full, so
// results that nobody reads stop the threads that make them and do not fill
// memory.
template <typename T>
class Mailbox {
 public:
  explicit Mailbox(size_t most_bytes) : most_(most_bytes) {}

  // Adds an item, of any size, as soon as fewer than the most bytes are there.
  // False once the mailbox is closed.
  bool push(T item, size_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return closed_ || bytes_ < most_; });
    if (closed_) return false;
    bytes_ += bytes;
    items_.emplace_back(std::move(item), bytes);
    lock.unlock();
    filled_.notify_one();
    return true;
  }

  // Returns the bytes of the items in the mailbox.
  size_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

  // Takes an item, waiting up to `most` for one. False if none came in time, or
  // the mailbox is closed and empty.
  bool pop(T& item, std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    const auto is_ready = [this] { return closed_ || !items_.empty(); };
    if (most.count() > 0) filled_.wait_for(lock, most, is_ready);
    return take(item);
  }
  // Takes an item, waiting until there is one. False if the mailbox is closed
  // and empty.
  bool pop(T& item) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return closed_ || !items_.empty(); });
    return take(item);
  }

  // Closes the mailbox. Items in it can still be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
    room_.notify_all();
  }

 private:
  bool take(T& item) {
    if (items_.empty()) return false;
    item = std::move(items_.front().first);
    bytes_ -= items_.front().second;
    items_.pop_front();
    room_.notify_all();
    return true;
  }

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable room_;
  std::deque<std::pair<T, size_t>> items_;
  size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace gt::exec
