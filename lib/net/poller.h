// Waits for sockets, descriptors and other threads together. (A ZeroMQ socket's
// own descriptor tells only that something changed, once; zmq_poll asks the
// socket, so that nothing is overlooked.)
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <zmq.h>

namespace gt::net {

// Wakes a thread that waits in a poller with fd() in it, from any thread. Owns
// an eventfd.
class Wake {
 public:
  Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;
  ~Wake();
  void signal();  // also from a signal handler
  void clear();
  int fd() const { return fd_; }

 private:
  int fd_;
};

class Poller {
 public:
  void clear() { items_.clear(); }
  // The index to ask ready() with. `socket` is Socket::raw() or the like.
  size_t add_socket(void* socket, bool for_output = false);
  size_t add_fd(int fd, bool for_output = false);
  // Ready only once the other end is closed.
  size_t add_end_of(int fd);
  // Sleeps until one is ready or a signal came, at most so many milliseconds;
  // -1: no limit.
  void wait(int64_t limit_ms);
  // Ready, or closed at the other end.
  bool ready(size_t index) const { return items_[index].revents != 0; }

 private:
  std::vector<zmq_pollitem_t> items_;
};

// Waits for very many sockets: a wait costs as much as there are sockets to
// which something happened. ZeroMQ tells of that only once, so all that came
// must be received from a socket that wait() names, and it must be looked at
// again after each send.
class ManyPoller {
 public:
  ManyPoller();
  ManyPoller(const ManyPoller&) = delete;
  ManyPoller& operator=(const ManyPoller&) = delete;
  ~ManyPoller();
  void add_socket(void* socket, uint32_t key);
  void add_fd(int fd, uint32_t key);
  // Waits as Poller does. Gives the keys of sockets to which something
  // happened, which may not be all of them: the others come next time.
  const std::vector<uint32_t>& wait(int64_t limit_ms);

 private:
  int epoll_;
  std::vector<uint32_t> keys_;
};

// Milliseconds of a clock that only goes forward.
int64_t now_ms();

}  // namespace gt::net
