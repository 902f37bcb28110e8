#include "net/listener.h"

#include <algorithm>
#include <utility>

#include "net/peer_user.h"

namespace gt::net {
namespace {

// The most bytes received in one step, before other work is done.
constexpr size_t kBytesAtOnce = size_t{8} << 20;

}  // namespace

Listener::Listener(Context& context, const LinkOptions& options,
                   Gatekeeper::Admits admits, ListenerState& state)
    : gatekeeper_(options.trust.keys ? std::make_unique<Gatekeeper>(context)
                                     : nullptr),
      router_(context, options),
      links_(context, router_),
      state_(state) {
  if (gatekeeper_ != nullptr) gatekeeper_->open(std::move(admits));
}

Status Listener::bind(const std::string& endpoint) {
  auto bound = router_.bind(endpoint);
  if (!bound.ok()) return bound.error();
  endpoint_ = std::move(bound.value());
  return ok_status();
}

void Listener::add_to(Poller& poller) const {
  poller.add_socket(router_.raw());
  poller.add_socket(links_.raw());
}

int64_t Listener::wait_ms() const {
  if (!all_read_) return 0;
  return std::max<int64_t>(0, state_.next_tick() - now_ms());
}

void Listener::step() {
  links_.watch();
  int received = 0;
  size_t bytes = 0;
  all_read_ = false;
  while (!all_read_ && received < kAtOnce && bytes < kBytesAtOnce) {
    all_read_ = !receive(bytes);
    ++received;
  }
  std::string peer;
  while (all_read_ && links_.next_ended(peer)) state_.link_ended(peer);
  while (gatekeeper_ != nullptr && gatekeeper_->next_refused(peer)) {
    state_.turned_away(peer, now_ms());
  }
  state_.tick(now_ms(), all_read_);
  flush();
}

bool Listener::receive(size_t& bytes) {
  Incoming in;
  if (!router_.receive(in)) return false;
  bytes += in.parts[0].size();
  const bool known = state_.knows(in.peer);
  if (!known && !admits(in)) return true;
  // A correct peer sends single frames and does not name its connection.
  // Anything else is not read: the state gets an empty frame, which is no
  // message.
  const bool is_read = in.count == 1 && in.is_named_by_us;
  Frame frame = is_read ? std::move(in.parts[0]) : Frame();
  state_.receive(in.peer, std::move(frame), now_ms(), in.key);
  if (!known && state_.knows(in.peer)) links_.claim(in.fd, in.peer);
  return true;
}

// True if a connection that sends its first message may be listened to.
bool Listener::admits(const Incoming& in) {
  if (!router_.is_same_user()) return true;
  const PeerCheck check = check_peer(in.fd);
  if (check.is == PeerIs::kSameUser) return true;
  state_.distrust(in.peer, check.why, now_ms());
  return false;
}

void Listener::flush() {
  ListenerState::Outgoing out;
  while (state_.next(out)) {
    const Sent sent = router_.send(out.peer, std::move(out.frame));
    // A connection that is gone is reported by its end, after its last
    // messages.
    if (sent == Sent::kWouldBlock) state_.undelivered(out.peer);
  }
}

}  // namespace gt::net
