// Aside: writes to a descriptor on a thread of its own. So a program that
// others wait for goes on however long the descriptor takes: on a disk that
// stalls, a terminal that is stopped, a pipe that nobody reads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace gt {

class Aside {
 public:
  // What is done once a write has failed.
  enum class Failure { kStop, kGoOn };

  // Writes to that descriptor, which stays the caller's. Throws
  // std::system_error if there is no thread.
  Aside(int fd, Failure failure);
  // Waits until all is written.
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // Adds bytes and does not wait. There is no bound: a caller that must have
  // one asks waiting().
  void write(std::string_view bytes);
  // Returns how many bytes are not written yet.
  size_t waiting() const;
  // Waits until all is written; with a limit, no longer. Returns whether it is.
  bool wait();
  bool wait(std::chrono::milliseconds limit);
  // Returns the errno of the first write that failed; 0 if none did.
  int errno_value() const;

 private:
  void loop();

  int fd_;
  Failure failure_;
  mutable std::mutex mutex_;
  std::condition_variable added_, written_;
  std::string text_;   // what the thread has not taken yet
  size_t writes_ = 0;  // how many bytes it is writing
  int errno_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace gt
