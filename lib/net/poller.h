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

// Waits for very many sockets. The cost of a wait grows only with the number of
// sockets to which something happened. ZeroMQ signals that only once, so
// everything must be received from a socket that wait() names, and the socket
// must be checked again after each send.
class ManyPoller {
 public:
  ManyPoller();
  ManyPoller(const ManyPoller&) = delete;
  ManyPoller& operator=(const ManyPoller&) = delete;
  ~ManyPoller();
  void add_socket(void* socket, uint32_t key);
  void add_fd(int fd, uint32_t key);
  // Waits as Poller does. Returns the keys of sockets to which something
  // happened; if there are very many, the rest come next time.
  const std::vector<uint32_t>& wait(int64_t limit_ms);

 private:
  int epoll_;
  std::vector<uint32_t> keys_;
};

// Returns the milliseconds of a clock that only goes forward.
int64_t now_ms();

}  // namespace gt::net
