#include "net/host.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "net/peer_user.h"

namespace gt::net {
namespace {

// An attached worker's queue has room for all that credit allows, and for the
// beats besides; a stranger's refusals fill theirs and are dropped.
LinkOptions link_options(const HostOptions& options, std::optional<Keys> keys) {
  LinkOptions link;
  link.keys = std::move(keys);
  link.max_message = kMaxMessage;
  link.send_queue = static_cast<int>(HostState::kMaxOnWay) + 1024;
  link.handshake_ms = static_cast<int>(options.timing.handshake);
  link.anyone = options.anyone;
  return link;
}

// Received in one step, before anything is done with it.
constexpr size_t kBytesAtOnce = size_t{8} << 20;

}  // namespace

Host::Host(Context& context, HostOptions options, std::optional<Keys> keys,
           Gatekeeper::Admits admits)
    : gatekeeper_(keys ? std::make_unique<Gatekeeper>(context) : nullptr),
      router_(context, link_options(options, std::move(keys))),
      links_(context, router_),
      state_(std::move(options), now_ms()) {
  if (gatekeeper_ != nullptr) gatekeeper_->open(std::move(admits));
}

Result<std::unique_ptr<Host>> Host::make(Context& context,
                                         const std::string& endpoint,
                                         HostOptions options,
                                         std::optional<Keys> keys,
                                         Gatekeeper::Admits admits) {
  std::unique_ptr<Host> host(new Host(context, std::move(options),
                                      std::move(keys), std::move(admits)));
  const auto bound = host->router_.bind(endpoint);
  if (!bound.ok()) return bound.error();
  host->endpoint_ = bound.value();
  return host;
}

void Host::add_to(Poller& poller) const {
  poller.add_socket(router_.raw());
  poller.add_socket(links_.raw());
}

int64_t Host::wait_ms() const {
  if (!all_read_) return 0;
  return std::max<int64_t>(0, state_.next_tick() - now_ms());
}

void Host::step() {
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

bool Host::receive(size_t& bytes) {
  Incoming in;
  if (!router_.receive(in)) return false;
  bytes += in.parts[0].size();
  const bool known = state_.knows(in.peer);
  if (!known && !admits(in)) return true;
  // A worker sends single frames and does not name its connection. What comes
  // in another way is not read: the state gets an empty frame, which is no
  // message.
  const bool is_read = in.count == 1 && in.is_named_by_us;
  Frame frame = is_read ? std::move(in.parts[0]) : Frame();
  state_.receive(in.peer, std::move(frame), now_ms(), in.key);
  if (!known && state_.knows(in.peer)) links_.claim(in.fd, in.peer);
  return true;
}

// Whether a connection that says something for the first time is listened to.
bool Host::admits(const Incoming& in) {
  if (!router_.is_same_user()) return true;
  const PeerCheck check = check_peer(in.fd);
  if (check.is == PeerIs::kSameUser) return true;
  state_.refuse(in.peer,
                "a worker is not taken: " + check.why +
                    "; without keys only the workers of one user may attach "
                    "(--key and --allow, or --insecure, admit others)",
                now_ms());
  return false;
}

void Host::send(uint32_t worker, const Frame& frame) {
  state_.send(worker, frame);
  flush();
}

void Host::beat() {
  state_.tick(now_ms(), false);
  flush();
}

// A socket may go from thread to thread when one begins or ends in between.
Pulse::Pulse(Host& host)
    : thread_([&host](const std::stop_token& stop) {
        constexpr std::chrono::milliseconds kLook{50};
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
          changed.wait_for(lock, stop, kLook, [] { return false; });
          host.beat();
        }
      }) {}

void Host::abort(std::string_view why) {
  state_.abort(why);
  flush();
}

void Host::drop(uint32_t worker, std::string_view why) {
  state_.drop(worker, why);
  flush();
}

void Host::flush() {
  HostState::Outgoing out;
  while (state_.next(out)) {
    const Sent sent = router_.send(out.peer, std::move(out.frame));
    // A connection that is gone is told by its end, after its last messages.
    if (sent == Sent::kWouldBlock) state_.undelivered(out.peer);
  }
}

}  // namespace gt::net
