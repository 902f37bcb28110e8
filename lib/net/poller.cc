#include "net/poller.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/result.h"
#include "base/shortage.h"

namespace gt::net {

Wake::Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) fail_short("cannot make an event descriptor");
}

Wake::~Wake() { ::close(fd_); }

void Wake::signal() {
  const uint64_t one = 1;
  // An error is ignored: it means that the counter is full, which wakes as
  // well.
  [[maybe_unused]] const auto n = ::write(fd_, &one, sizeof one);
}

void Wake::clear() {
  uint64_t count = 0;
  [[maybe_unused]] const auto n = ::read(fd_, &count, sizeof count);
}

size_t Poller::add_socket(void* socket, bool for_output) {
  const auto output = static_cast<short>(for_output ? ZMQ_POLLOUT : 0);
  items_.push_back({socket, -1, static_cast<short>(ZMQ_POLLIN | output), 0});
  return items_.size() - 1;
}

size_t Poller::add_fd(int fd, bool for_output) {
  const auto events = static_cast<short>(for_output ? ZMQ_POLLOUT : ZMQ_POLLIN);
  items_.push_back({nullptr, fd, events, 0});
  return items_.size() - 1;
}

size_t Poller::add_end_of(int fd) {
  items_.push_back({nullptr, fd, ZMQ_POLLERR, 0});
  return items_.size() - 1;
}

void Poller::wait(int64_t limit_ms) {
  for (auto& item : items_) item.revents = 0;
  const long limit = static_cast<long>(std::max<int64_t>(limit_ms, -1));
  const int ready =
      zmq_poll(items_.data(), static_cast<int>(items_.size()), limit);
  if (ready >= 0) return;
  GT_CHECK(errno == EINTR);
  for (auto& item : items_) item.revents = 0;
}

int64_t now_ms() { return steady_ns() / 1'000'000; }

}  // namespace gt::net
