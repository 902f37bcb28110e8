// Threads that compile kernels while lines are decoded and others run.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gt::exec::cuda {

class Background {
 public:
  Background() = default;
  ~Background() { end(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Calls it on a thread of its own, first come, first served. Any thread.
  void add(std::function<void()> task);
  // Waits for what runs, and forgets what has not begun.
  void end();

 private:
  static constexpr size_t kMost = 4;  // threads
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_, as is all
  size_t idle_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gt::exec::cuda
