#include "net/peers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/random_token.h"
#include "net/endpoint.h"
#include "net/peer_user.h"
#include "net/wire.h"

namespace gt::net {
namespace {

// We send only to peers to which we connected, so the send queue may be
// unbounded. What strangers send is bounded.
LinkOptions options(const Trust& trust) {
  LinkOptions link;
  link.trust = trust;
  // This is long enough to notice first that a connection has ended, so that
  // libzmq never reconnects to somebody else in its place.
  link.reconnect_ms = 1000;
  link.max_message = kMaxPeerBody;
  link.send_queue = 0;
  return link;
}

}  // namespace

Peers::Peers(Context& context, const Trust& trust)
    : gatekeeper_(trust.keys ? std::make_unique<Gatekeeper>(context) : nullptr),
      router_(context, options(trust)),
      links_(context, router_),
      link_prefix_("to-" + random_token() + "-") {}

std::string Peers::name_of_link(uint32_t worker) const {
  return link_prefix_ + std::to_string(worker);
}

Result<std::unique_ptr<Peers>> Peers::make(Context& context,
                                           const std::string& near,
                                           const Trust& trust) {
  std::unique_ptr<Peers> peers(new Peers(context, trust));
  const auto place = endpoint_beside(near, peers->router_.is_same_user());
  if (!place.ok()) return place.error();
  const auto bound = peers->router_.bind(place.value());
  if (!bound.ok()) return bound.error();
  peers->endpoint_ = bound.value();
  return peers;
}

Status Peers::connect(uint32_t self, const std::string& session,
                      const std::vector<PeerAddress>& others) {
  GT_CHECK(!is_connected_);
  self_ = self;
  session_ = session;
  is_connected_ = true;
  if (gatekeeper_ != nullptr) {
    std::set<std::string> keys;
    for (const PeerAddress& other : others) keys.insert(other.key);
    gatekeeper_->open([keys = std::move(keys)](const std::string& key) {
      return keys.contains(key);
    });
  }
  for (const PeerAddress& other : others) {
    const std::string name = name_of_link(other.worker);
    const Status status = router_.connect_as(name, other.endpoint, other.key);
    if (!status.ok()) return status.error();
    peers_[other.worker].endpoint = other.endpoint;
    // Without keys it must be known first that the other process is our user's;
    // greet() then says the hello.
    if (!router_.is_same_user()) say_hello(other.worker);
  }
  pending_ = peers_.size();
  return ok_status();
}

void Peers::say_hello(uint32_t worker) {
  MessageWriter hello(Verb::kHello);
  hello.field("worker", self_).field("session", session_);
  router_.send(name_of_link(worker), Frame(hello.finish()));
  peers_[worker].is_greeted = true;
  if (peers_[worker].is_known) answer(worker);
}

// Answers a worker's hello. Must come after our own hello, since before that we
// are a stranger to it.
void Peers::answer(uint32_t worker) {
  router_.send(name_of_link(worker),
               Frame(MessageWriter(Verb::kWelcome).finish()));
}

// Checks the connections that we made. True if one leads to a stranger, so that
// its worker is lost.
bool Peers::greet(PeerEvent& message) {
  if (!router_.is_same_user()) return false;
  LinkEvent made;
  while (links_.next_made(made)) {
    const auto found = std::ranges::find_if(peers_, [&](const auto& entry) {
      return entry.second.endpoint == made.endpoint;
    });
    if (found == peers_.end() || found->second.is_lost) continue;
    const PeerCheck check = check_peer(made.fd);
    if (check.is == PeerIs::kSameUser) {
      say_hello(found->first);
    } else if (check.is == PeerIs::kOther) {
      return lose(
          found->first,
          "what listens at " + made.endpoint + " is not it: " + check.why,
          message);
    }
  }
  std::string endpoint;
  while (links_.next_broken(endpoint)) router_.disconnect(endpoint);
  return false;
}

bool Peers::lose(uint32_t worker, std::string why, PeerEvent& message) {
  message.kind = PeerEvent::Kind::kLost;
  message.worker = worker;
  message.header = std::move(why);
  message.body = Frame();
  peers_[worker].is_lost = true;
  return true;
}

std::vector<uint32_t> Peers::missing() const {
  std::vector<uint32_t> out;
  for (const auto& [worker, peer] : peers_) {
    if (!peer.is_known || !peer.has_answered) out.push_back(worker);
  }
  std::ranges::sort(out);
  return out;
}

bool Peers::send(uint32_t worker, std::string_view header, const void* body,
                 size_t bytes, std::shared_ptr<const void> keep) {
  GT_CHECK(header.size() <= kMaxHeader && bytes <= kMaxPeerBody);
  const auto found = peers_.find(worker);
  if (found == peers_.end() || found->second.is_lost) return false;
  return router_.send(name_of_link(worker), Frame(std::string(header)),
                      Frame(body, bytes, std::move(keep))) == Sent::kSent;
}

bool Peers::receive(PeerEvent& message) {
  if (!is_connected_) return false;
  // The ends of links are noted first; everything that came before them is then
  // received.
  links_.watch();
  Incoming in;
  while (router_.receive(in)) {
    if (take(in, message)) return true;
  }
  // These come last, since taking a hello also watches the links.
  return greet(message) || next_lost(message);
}

// Reports a lost worker. All messages of its connection have been received by
// then.
bool Peers::next_lost(PeerEvent& message) {
  std::string id;
  while (links_.next_ended(id)) {
    const auto known = workers_.find(id);
    if (known == workers_.end()) continue;
    const uint32_t worker = known->second;
    workers_.erase(known);
    return lose(worker, "its connection ended", message);
  }
  return false;
}

bool Peers::take(Incoming& in, PeerEvent& message) {
  const auto known = workers_.find(in.peer);
  if (in.count == 1) {
    take_control(in);
    return false;
  }
  const bool fits = in.parts[0].size() <= kMaxHeader;
  if (known == workers_.end() || in.count != 2 || !fits) {
    ++strangers_;
    return false;
  }
  message.kind = PeerEvent::Kind::kMessage;
  message.worker = known->second;
  message.header = in.parts[0].bytes();
  message.body = std::move(in.parts[1]);
  return true;
}

// Handles a hello from a worker that we do not know yet, or the answer of a
// known one to ours.
void Peers::take_control(Incoming& in) {
  const auto known = workers_.find(in.peer);
  const auto control = parse_message(in.parts[0].bytes());
  if (control.ok() && known == workers_.end() &&
      control.value().verb == Verb::kHello) {
    const auto worker = number(control.value(), "worker");
    const std::string session = control.value().text("session");
    if (worker.ok() && worker.value() <= UINT32_MAX &&
        same_token(session, session_)) {
      return take_hello(in, static_cast<uint32_t>(worker.value()));
    }
  }
  if (control.ok() && known != workers_.end() &&
      control.value().verb == Verb::kWelcome) {
    peers_[known->second].has_answered = true;
    return count_pending();
  }
  ++strangers_;
}

void Peers::take_hello(const Incoming& in, uint32_t worker) {
  const auto found = peers_.find(worker);
  if (found == peers_.end() || found->second.is_known) {
    ++strangers_;
    return;
  }
  found->second.is_known = true;
  found->second.id = in.peer;
  links_.claim(in.fd, in.peer);
  workers_[in.peer] = worker;
  if (found->second.is_greeted) answer(worker);
  count_pending();
}

void Peers::count_pending() { pending_ = missing().size(); }

}  // namespace gt::net
