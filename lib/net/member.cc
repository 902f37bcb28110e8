#include "net/member.h"

#include <algorithm>
#include <utility>

namespace gt {
namespace {

LinkOptions link_options(const MemberOptions& options) {
  LinkOptions link;
  link.keys = options.keys;
  link.server = options.route_key;
  link.max_message = kMaxMessage;
  link.send_queue = 64;
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
  LinkEvent event;
  while (monitor_.next(event)) {
    if (event.kind == LinkEvent::Kind::kUp) state_.link_up(now_ms());
    if (event.kind == LinkEvent::Kind::kDown) link_down();
    const bool by_key = event.kind == LinkEvent::Kind::kDenied;
    const bool is_other = event.kind == LinkEvent::Kind::kMismatch;
    if (by_key || is_other || event.kind == LinkEvent::Kind::kRejected) {
      state_.link_refused(by_key, by_key || is_other);
    }
  }
  receive();
  state_.tick(now_ms(), all_read_);
  flush();
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
    state_.receive(std::move(frame), now_ms());
    ++received;
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

}  // namespace gt
