// A small pool of threads that compile kernels while lines are decoded and
// kernels run.
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

  // Calls `task` on a thread of the pool; tasks start in the order in which
  // they were added. Any thread may call it.
  void add(std::function<void()> task);
  // Waits for the tasks that are running, drops those that have not begun, and
  // joins the threads.
  void end();

 private:
  static constexpr size_t kMost = 4;  // most threads in the pool
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_, like all members.
  std::deque<std::function<void()>> waiting_;
  size_t idle_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gt::exec::cuda
