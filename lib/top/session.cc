#include "top/session.h"

#include <algorithm>
#include <utility>

#include "base/message.h"

namespace gt::top {
namespace {

// In milliseconds; workers report what they use as often as this.
constexpr int64_t kMostApart = 500;
constexpr int64_t kLeastApart = 100;

}  // namespace

Session::Session(const TopOptions& options)
    : options_(options),
      interval_(std::clamp(static_cast<int64_t>(options.seconds * 1000),
                           kLeastApart, kMostApart)) {}

Status Session::begin() {
  auto made = net::Watcher::make(context_, options_.watcher);
  if (!made.ok()) return made.error();
  watcher_ = std::move(made.value());
  next_ = net::now_ms() + interval_;
  return ok_status();
}

void Session::wait(int64_t until, int fd) {
  is_new_ = false;
  poller_.clear();
  poller_.add_fd(interrupts_.fd());
  if (fd >= 0) poller_.add_fd(fd);
  int64_t limit = until - net::now_ms();
  if (!is_over_) {
    watcher_->add_to(poller_);
    limit = std::min({limit, next_ - net::now_ms(), watcher_->wait_ms()});
  }
  poller_.wait(std::max<int64_t>(0, limit));
  while (interrupts_.take() != 0) is_interrupted_ = true;
  if (is_over_) return;
  watcher_->step();
  net::WatchEvent event;
  while (!is_over_ && watcher_->next(event)) take(std::move(event));
  if (is_over_) watcher_ = nullptr;  // gt-route waits for that before it ends
  if (is_over_ || net::now_ms() < next_) return;
  watcher_->ask();
  next_ = net::now_ms() + interval_;
}

void Session::take(net::WatchEvent event) {
  if (event.kind == net::WatchEvent::Kind::kState) {
    auto read = read_snapshot(event.text);
    if (read.ok()) {
      model_.take(std::move(read.value()));
      is_new_ = true;
      return;
    }
    why_ = "what came from " + options_.watcher.endpoint +
           " is no state of gt-route: " + read.error().message;
    model_.end("lost");
  } else if (event.kind == net::WatchEvent::Kind::kEnded) {
    has_ended_ = true;
    why_ = "the run ended with status " +
           std::to_string(static_cast<int>(event.status));
    model_.end("ended");
    is_new_ = true;
  } else {
    why_ = std::move(event.text);
    model_.end("lost");
  }
  is_over_ = true;
}

Exit Session::status() const {
  if (is_interrupted_) return Exit::kInterrupted;
  return is_over_ && !has_ended_ ? Exit::kLost : Exit::kDone;
}

int64_t Session::silence() const {
  if (is_over_ || watcher_ == nullptr) return 0;
  return net::now_ms() - watcher_->heard();
}

}  // namespace gt::top
