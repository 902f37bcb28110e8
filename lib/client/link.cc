#include "client/link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace gt::client {
namespace {

constexpr size_t kEnough = size_t{32} << 10;  // bytes that are sent together
// Unsent bytes above which writers wait.
constexpr size_t kMost = size_t{1} << 20;
constexpr int kPause = 1;       // ms after which the rest is sent
constexpr int kGrowth = 2;      // ms between two reads of a file that grows
constexpr int kSilence = 1500;  // ms between two questions whether all is lost
constexpr size_t kPiece = size_t{64} << 10;

void set_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

Link::Link(Fd lines, std::mutex& mutex, Taker take, IsLost is_lost)
    : mutex_(mutex),
      take_(std::move(take)),
      is_lost_(std::move(is_lost)),
      lines_(std::move(lines)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  set_nonblocking(lines_.get());
  // Signals are to be handled by the user's threads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Link::~Link() { stop(); }

void Link::stop() {
  if (!thread_.joinable()) return;
  {
    const Lock lock(mutex_);
    is_over_ = true;
    wake();
  }
  thread_.join();
  event_ = Fd();
}

void Link::forget() {
  // The thread does not exist in the child.
  if (thread_.joinable()) thread_.detach();
  lines_ = Fd();
  results_ = Fd();
  is_broken_ = has_ended_ = true;
}

void Link::set_results(Fd results, bool grows) {
  results_ = std::move(results);
  grows_ = grows;
  if (!grows) set_nonblocking(results_.get());
}

bool Link::write(std::string_view text, Lock& lock) {
  const bool is_first = out_.empty();
  out_ += text;
  if (out_.size() - sent_ >= next_send_) {
    send();
    pump_while([this] { return out_.size() - sent_ > kMost && !is_broken_; },
               lock);
  } else if (is_first && is_asleep_) {
    wake();
  }
  return !is_broken_;
}

bool Link::wait(const std::function<bool()>& holds, Lock& lock) {
  move();
  const auto may_come = [this] {
    return !has_ended_ && (results_.ok() || !is_broken_);
  };
  pump_while([&] { return !holds() && may_come(); }, lock);
  return holds();
}

void Link::watch_results(bool is_on) {
  if (std::exchange(is_watching_, is_on) != is_on && is_on) wake();
}

void Link::finish(const std::function<bool()>& has_all, Lock& lock) {
  move();
  while (sent_ < out_.size() && !is_broken_) pump(lock);
  ::shutdown(lines_.get(), SHUT_WR);
  lines_ = Fd();
  is_broken_ = true;
  while (results_.ok() && !has_ended_ && !has_all()) pump(lock);
  results_ = Fd();
  has_ended_ = true;
  moved_.notify_all();
}

void Link::move() {
  send();
  receive();
}

void Link::send() {
  if (is_broken_) return;
  while (sent_ < out_.size()) {
    const ssize_t n = ::send(lines_.get(), out_.data() + sent_,
                             out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      is_broken_ = errno != EAGAIN;
      break;
    }
    sent_ += static_cast<size_t>(n);
  }
  ++sends_;
  // Bytes that the socket did not take now are not offered again with every
  // line.
  next_send_ = out_.size() - sent_ + kEnough;
  if (sent_ == out_.size() || is_broken_) {
    out_.clear();
    sent_ = 0;
  } else if (sent_ > kMost) {
    out_.erase(0, std::exchange(sent_, 0));
  }
}

void Link::receive() {
  if (!results_.ok() || has_ended_) return;
  for (;;) {
    const size_t had = in_.size();
    in_.resize(had + kPiece);
    const ssize_t n = ::read(results_.get(), in_.data() + had, kPiece);
    in_.resize(had + static_cast<size_t>(n > 0 ? n : 0));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 && (grows_ || is_fresh_)) return;
    if (n > 0) is_fresh_ = false;
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
      has_ended_ = true;
    }
    if (n <= 0) return;
    size_t begin = 0;
    for (size_t end = in_.find('\n', had); end != std::string::npos;
         end = in_.find('\n', begin)) {
      take_(std::string_view(in_).substr(begin, end - begin));
      begin = end + 1;
    }
    in_.erase(0, begin);
    if (static_cast<size_t>(n) < kPiece) return;
  }
}

void Link::pump_while(const std::function<bool()>& holds, Lock& lock) {
  while (holds()) pump(lock);
  // From now on nobody polls but the thread.
  if (is_watching_ && is_asleep_) wake();
}

void Link::pump(Lock& lock) {
  if (is_polling_) {
    moved_.wait(lock);
    return;
  }
  is_polling_ = true;
  pollfd fds[2] = {{-1, 0, 0}, {-1, 0, 0}};
  if (!is_broken_) {
    // Even without POLLOUT, poll() reports that nobody reads any more.
    fds[0] = {lines_.get(),
              static_cast<short>(sent_ < out_.size() ? POLLOUT : 0), 0};
  }
  if (results_.ok() && !has_ended_ && !grows_) {
    fds[1] = {results_.get(), POLLIN, 0};
  }
  lock.unlock();
  const int moving = ::poll(fds, 2, grows_ ? kGrowth : kSilence);
  lock.lock();
  is_polling_ = false;
  if (moving == 0 && !grows_ && is_lost_()) is_broken_ = has_ended_ = true;
  if ((fds[1].revents & POLLHUP) != 0) is_fresh_ = false;
  const bool is_gone = (fds[0].revents & (POLLERR | POLLHUP)) != 0;
  if (is_gone) is_broken_ = true;
  move();
  moved_.notify_all();
}

void Link::wake() {
  is_asleep_ = false;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(event_.get(), &one, sizeof one);
}

void Link::run() {
  Lock lock(mutex_);
  while (!is_over_) {
    const uint64_t sends = sends_;
    const bool has_rest = sent_ < out_.size() && !is_broken_;
    const bool watches =
        is_watching_ && !is_polling_ && results_.ok() && !has_ended_;
    int timeout = has_rest ? kPause : -1;
    if (watches && grows_) timeout = kGrowth;
    is_asleep_ = timeout < 0;
    pollfd fds[2] = {{event_.get(), POLLIN, 0}, {-1, 0, 0}};
    if (watches) {
      is_polling_ = true;
      if (!grows_) fds[1] = {results_.get(), POLLIN, 0};
    }
    lock.unlock();
    ::poll(fds, 2, timeout);
    lock.lock();
    is_asleep_ = false;
    if (watches) is_polling_ = false;
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n =
        ::read(event_.get(), &count, sizeof count);
    if ((fds[1].revents & POLLHUP) != 0) is_fresh_ = false;
    if (watches) receive();
    if (has_rest && sends == sends_) send();
    moved_.notify_all();
  }
}

}  // namespace gt::client
