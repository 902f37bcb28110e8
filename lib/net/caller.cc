#include "net/caller.h"

#include <algorithm>
#include <utility>

#include "net/peer_user.h"

namespace gt::net {

void Caller::add_to(Poller& poller) const {
  poller.add_socket(dealer_.raw(), !unsent_.empty());
  poller.add_socket(monitor_.raw());
}

int64_t Caller::wait_ms() const {
  if (!all_read_) return 0;
  return std::max<int64_t>(0, state_.next_tick() - now_ms());
}

void Caller::step() {
  read_events();
  do {
    while (!events_.empty()) {
      const LinkEvent event = std::move(events_.front());
      events_.pop_front();
      take(event);
    }
    receive();  // also reads the events that come meanwhile
  } while (!events_.empty());
  state_.tick(now_ms(), all_read_);
  flush();
}

void Caller::read_events() {
  LinkEvent event;
  while (monitor_.next(event)) events_.push_back(std::move(event));
}

void Caller::take(const LinkEvent& event) {
  switch (event.kind) {
    case LinkEvent::Kind::kConnected:
      fd_ = event.fd;
      return look_at_peer(false);
    case LinkEvent::Kind::kUp:
      return look_at_peer(true);
    case LinkEvent::Kind::kDown:
      return link_down();
    case LinkEvent::Kind::kRejected:
      return state_.link_refused(false, false);
    case LinkEvent::Kind::kDenied:
      return state_.link_refused(true, true);
    case LinkEvent::Kind::kMismatch:
      return state_.link_refused(false, true);
  }
}

// Nothing is sent or believed before it is known whose process is at the other
// end. With a Unix socket that is known before the handshake, which another
// user's process may never complete; with tcp, after it.
void Caller::look_at_peer(bool is_up) {
  PeerCheck check{PeerIs::kSameUser, ""};
  if (dealer_.is_same_user()) check = check_peer(fd_);
  const bool is_other = check.is == PeerIs::kOther;
  if (is_other) return state_.link_untrusted(check.why, true);
  if (!is_up) return;
  if (check.is == PeerIs::kSameUser) return state_.link_up(now_ms());
  state_.link_untrusted(check.why, false);
}

// True if a new connection was made whose event is not handled yet. A frame
// received now may have come over it.
bool Caller::has_new_link() const {
  return std::ranges::any_of(events_, [](const LinkEvent& event) {
    return event.kind == LinkEvent::Kind::kUp;
  });
}

void Caller::receive() {
  Frame frame;
  int received = 0;
  while (received < kAtOnce && dealer_.receive(frame)) {
    ++received;
    read_events();
    // Nothing is lost by this: a listener says nothing before it has our hello.
    if (has_new_link()) continue;
    state_.receive(std::move(frame), now_ms());
  }
  all_read_ = received < kAtOnce;
}

// Reads the connection's last messages first. Frames that were to be sent over
// it are dropped.
void Caller::link_down() {
  receive();
  state_.link_down();
  unsent_.clear();
  unsent_bytes_ = 0;
}

void Caller::flush() {
  Frame frame;
  while (state_.next(frame)) {
    unsent_bytes_ += frame.size();
    unsent_.push_back(std::move(frame));
  }
  while (!unsent_.empty()) {
    if (dealer_.send(unsent_.front()) != Sent::kSent) return;
    unsent_bytes_ -= unsent_.front().size();
    unsent_.pop_front();
  }
}

}  // namespace gt::net
