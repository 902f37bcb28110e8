#include "net/member.h"

#include <algorithm>
#include <utility>

#include "net/peer_user.h"

namespace gt::net {
namespace {

LinkOptions link_options(const MemberOptions& options) {
  LinkOptions link;
  link.keys = options.keys;
  link.server = options.route_key;
  link.max_message = kMaxMessage;
  link.send_queue = 64;
  link.anyone = options.anyone;
  return link;
}

Status check(const WorkerInfo& info) {
  for (const std::string& text :
       {info.name, info.host, info.data, info.isa, info.backend}) {
    if (text.size() <= kMaxName) continue;
    return Error{"'" + text + "' has more than " + std::to_string(kMaxName) +
                 " bytes"};
  }
  if (info.name.empty()) return Error{"a worker needs a name"};
  return ok_status();
}

}  // namespace

Member::Member(Context& context, MemberOptions options)
    : dealer_(context, link_options(options)),
      monitor_(context, dealer_),
      state_(std::move(options), now_ms()) {}

Result<std::unique_ptr<Member>> Member::make(Context& context,
                                             const std::string& endpoint,
                                             MemberOptions options) {
  Status status = check(options.info);
  if (!status.ok()) return status.error();
  options.host = endpoint;
  std::unique_ptr<Member> member(new Member(context, std::move(options)));
  status = member->dealer_.connect(endpoint);
  if (!status.ok()) return status.error();
  return member;
}

void Member::add_to(Poller& poller) const {
  poller.add_socket(dealer_.raw(), !unsent_.empty());
  poller.add_socket(monitor_.raw());
}

void Member::add_to(ManyPoller& poller, uint32_t key) const {
  poller.add_socket(dealer_.raw(), key);
  poller.add_socket(monitor_.raw(), key);
}

int64_t Member::wait_ms() const {
  if (!all_read_) return 0;
  return std::max<int64_t>(0, state_.next_tick() - now_ms());
}

void Member::step() {
  read_events();
  do {
    while (!events_.empty()) {
      const LinkEvent event = std::move(events_.front());
      events_.pop_front();
      take(event);
    }
    receive();  // and what events come meanwhile
  } while (!events_.empty());
  state_.tick(now_ms(), all_read_);
  flush();
}

void Member::read_events() {
  LinkEvent event;
  while (monitor_.next(event)) events_.push_back(std::move(event));
}

void Member::take(const LinkEvent& event) {
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

// Nothing is said, and nothing believed, before it is known to whom. A Unix
// socket tells that before the handshake, which another user's may never do; of
// tcp it is known behind it.
void Member::look_at_peer(bool is_up) {
  PeerCheck check{PeerIs::kSameUser, ""};
  if (dealer_.is_same_user()) check = check_peer(fd_);
  const bool is_other = check.is == PeerIs::kOther;
  if (is_other) return state_.link_untrusted(check.why, true);
  if (!is_up) return;
  if (check.is == PeerIs::kSameUser) return state_.link_up(now_ms());
  state_.link_untrusted(check.why, false);
}

// Whether there is a connection that was not taken note of yet: what a frame
// brings may then be of it.
bool Member::has_new_link() const {
  return std::ranges::any_of(events_, [](const LinkEvent& event) {
    return event.kind == LinkEvent::Kind::kUp;
  });
}

void Member::bye(Exit status, std::string_view why) {
  state_.bye(status, why);
  flush();
}

void Member::await_answer(int64_t milliseconds) {
  const int64_t until = now_ms() + milliseconds;
  Poller poller;
  MemberEvent event;
  for (int64_t now = now_ms(); now < until; now = now_ms()) {
    while (next(event)) continue;
    if (state_.is_over()) return;
    poller.clear();
    add_to(poller);
    poller.wait(std::min(wait_ms(), until - now));
    step();
  }
}

void Member::receive() {
  Frame frame;
  int received = 0;
  while (received < kAtOnce && dealer_.receive(frame)) {
    ++received;
    read_events();
    // gt-route says nothing to whom it has no hello of, so nothing is lost.
    if (has_new_link()) continue;
    state_.receive(std::move(frame), now_ms());
  }
  all_read_ = received < kAtOnce;
}

// Its last messages come first; what was to be sent over it is for nobody.
void Member::link_down() {
  receive();
  state_.link_down();
  unsent_.clear();
  unsent_bytes_ = 0;
}

void Member::give_back(size_t bytes) {
  state_.give_back(bytes);
  flush();
}

void Member::done(uint64_t seq, uint64_t wait_ms, std::string_view waits_for,
                  uint64_t waits_at) {
  state_.done(seq, wait_ms, waits_for, waits_at);
  flush();
}

void Member::ran(std::string_view body) {
  state_.ran(body);
  flush();
}

void Member::send(Frame frame) {
  state_.send(std::move(frame));
  flush();
}

void Member::flush() {
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
