#include "route/monitor.h"

#include <algorithm>

#include "net/monitors.h"

namespace gt::route {
namespace {

// Descriptors of a context and its sockets.
constexpr size_t kDescriptors = 16;
// A state takes at most 1/kShare of the time.
constexpr int64_t kShare = 100;
constexpr int64_t kEndPatience = 500;  // milliseconds

net::LinkOptions link_options(const MonitorOptions& options) {
  net::LinkOptions link;
  link.max_message = net::Watchers::kMaxAsked;
  link.send_queue = 64;  // the parts of a long state
  link.trust.keys = options.keys;
  return link;
}

}  // namespace

Status Monitor::begin() {
  if (!options_.is_on) return ok_status();
  const bool is_private = options_.endpoint.empty();
  net::need_descriptors(kDescriptors);
  context_ = std::make_unique<net::Context>();
  listener_ = std::make_unique<net::Listener>(*context_, link_options(options_),
                                              options_.admits, watchers_);
  const Status bound =
      listener_->bind(is_private ? net::monitor_endpoint() : options_.endpoint);
  if (bound.ok()) return bound;
  listener_ = nullptr;
  return is_private ? ok_status() : bound;
}

void Monitor::add_to(net::Poller& poller) const {
  if (listener_ != nullptr) listener_->add_to(poller);
}

int64_t Monitor::wait_ms() const {
  if (listener_ == nullptr) return INT64_MAX;
  const int64_t limit = listener_->wait_ms();
  if (!watchers_.is_asked()) return limit;
  return std::min(limit, std::max<int64_t>(0, next_ - net::now_ms()));
}

void Monitor::step() {
  if (listener_ != nullptr) listener_->step();
}

bool Monitor::is_due() const {
  return watchers_.is_asked() && net::now_ms() >= next_;
}

void Monitor::tell(const std::function<std::string()>& make) {
  const int64_t began = net::now_ms();
  watchers_.tell(make());
  listener_->flush();
  const int64_t took = net::now_ms() - began;
  next_ = began + std::max(kApart, kShare * took);
}

void Monitor::end(const std::string& state, Exit status) {
  if (listener_ == nullptr) return;
  watchers_.end(state, status);
  listener_->flush();
  net::Poller poller;
  const int64_t until = net::now_ms() + kEndPatience;
  while (watchers_.size() > 0) {
    const int64_t left = until - net::now_ms();
    if (left <= 0) return;
    poller.clear();
    listener_->add_to(poller);
    poller.wait(std::min(left, listener_->wait_ms()));
    listener_->step();
  }
}

}  // namespace gt::route
