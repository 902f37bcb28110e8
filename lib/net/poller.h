// Pollers wait for sockets, descriptors and other threads together. (The
// descriptor of a ZeroMQ socket only signals once that something has changed;
// zmq_poll also asks the socket, so nothing is missed.)
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <zmq.h>

namespace gt::net {

// Wakes a thread that waits in a poller with fd() in it. Any thread may call
// signal(). Owns an eventfd.
class Wake {
 public:
  Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;
  ~Wake();
  void signal();  // may be called in a signal handler
  void clear();
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Waits for a few sockets and descriptors, which are added anew for each wait.
class Poller {
 public:
  void clear() { items_.clear(); }
  // Add something to wait for, and return its index for ready(). `socket` is a
  // ZeroMQ socket, such as Socket::raw().
  size_t add_socket(void* socket, bool for_output = false);
  size_t add_fd(int fd, bool for_output = false);
  // Becomes ready only when the other end is closed.
  size_t add_end_of(int fd);
  // Sleeps until one is ready or a signal comes, for at most so many
  // milliseconds; -1 means no limit.
  void wait(int64_t limit_ms);
  // True if it is ready, or closed at the other end.
  bool ready(size_t index) const { return items_[index].revents != 0; }

 private:
  std::vector<zmq_pollitem_t> items_;
};

// Returns the milliseconds of a clock that only goes forward.
int64_t now_ms();

}  // namespace gt::net
