// DiskThreads runs what may wait for a disk, each call on a thread of its own,
// so that the loop of the server goes on however long a disk takes. What a call
// returns comes back into the loop as a Pending.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"
#include "net/poller.h"

namespace gt::serve {

// What a thread is making.
template <typename T>
class Pending {
 public:
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  // Once it is done: takes it.
  T take() { return std::move(*made_); }

 private:
  friend class DiskThreads;
  std::optional<T> made_;
  std::atomic<bool> is_done_{false};
};

class DiskThreads {
 public:
  // Calls it on a thread. The call must own what it uses: the thread may
  // outlive everything else, since nobody can end a wait for a disk. Error:
  // there is no thread.
  template <typename T, typename Call>
  Result<std::shared_ptr<Pending<T>>> run(Call call) {
    auto pending = std::make_shared<Pending<T>>();
    shared_->busy.fetch_add(1);
    try {
      std::thread([pending, shared = shared_, call = std::move(call)] {
        pending->made_.emplace(call());
        pending->is_done_.store(true, std::memory_order_release);
        shared->busy.fetch_sub(1);
        shared->wake.signal();
      }).detach();
    } catch (const std::system_error& error) {
      shared_->busy.fetch_sub(1);
      return Error{std::string("it has no thread for that: ") + error.what()};
    }
    return pending;
  }

  // Becomes ready to be read when a call is done; clear() makes it unready.
  int fd() const { return shared_->wake.fd(); }
  void clear() { shared_->wake.clear(); }
  // Returns how many calls are not done.
  size_t busy() const { return shared_->busy.load(); }

 private:
  struct Shared {
    net::Wake wake;
    std::atomic<size_t> busy{0};
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace gt::serve
