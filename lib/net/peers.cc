#include "net/peers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "net/endpoint.h"
#include "net/wire.h"

namespace gt {
namespace {

// Only those whom we connected to are sent anything, so the queue may be
// without bound; what strangers send is bounded.
LinkOptions options(std::optional<Keys> keys) {
  LinkOptions link;
  link.keys = std::move(keys);
  link.max_message = kMaxPeerBody;
  link.send_queue = 0;
  return link;
}

std::string name_of_link(uint32_t worker) {
  return "to-" + std::to_string(worker);
}

}  // namespace

Peers::Peers(Context& context, std::optional<Keys> keys)
    : gatekeeper_(keys ? std::make_unique<Gatekeeper>(context) : nullptr),
      router_(context, options(std::move(keys))),
      links_(context, router_) {}

Result<std::unique_ptr<Peers>> Peers::make(Context& context,
                                           const std::string& near,
                                           std::optional<Keys> keys) {
  std::unique_ptr<Peers> peers(new Peers(context, std::move(keys)));
  const auto place = endpoint_beside(near);
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
    peers_[other.worker] = Peer();
    MessageWriter hello(Verb::kHello);
    hello.field("worker", self_).field("session", session_);
    router_.send(name, Frame(hello.finish()));
  }
  pending_ = peers_.size();
  return ok_status();
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
  // A link's end is looked for first: what came before it is then received.
  links_.watch();
  Incoming in;
  while (router_.receive(in)) {
    if (take(in, message)) return true;
  }
  return next_lost(message);
}

// All that a connection brought has been received when its end is told.
bool Peers::next_lost(PeerEvent& message) {
  std::string id;
  while (links_.next_ended(id)) {
    const auto known = workers_.find(id);
    if (known == workers_.end()) continue;
    message.kind = PeerEvent::Kind::kLost;
    message.worker = known->second;
    message.header = "its connection ended";
    message.body = Frame();
    peers_[known->second].is_lost = true;
    workers_.erase(known);
    return true;
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

// A hello from whom we do not know yet, an answer to ours from whom we do.
void Peers::take_control(Incoming& in) {
  const auto known = workers_.find(in.peer);
  const auto control = parse_message(in.parts[0].bytes());
  if (control.ok() && known == workers_.end() &&
      control.value().verb == Verb::kHello) {
    const auto worker = number(control.value(), "worker");
    const std::string session = text(control.value(), "session");
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
  router_.send(name_of_link(worker),
               Frame(MessageWriter(Verb::kWelcome).finish()));
  count_pending();
}

void Peers::count_pending() { pending_ = missing().size(); }

}  // namespace gt
