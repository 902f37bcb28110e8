#include "net/watcher.h"

#include <utility>

#include "base/printable.h"
#include "base/text.h"

namespace gt::net {
namespace {

LinkOptions link_options(const WatcherOptions& options) {
  LinkOptions link;
  link.max_message = kMaxMessage;
  link.trust = options.trust;
  return link;
}

}  // namespace

WatcherState::WatcherState(WatcherOptions options, int64_t now)
    : options_(std::move(options)),
      callee_{"gt-route", options_.endpoint, "--route-key"},
      heard_(now) {}

void WatcherState::finish(WatchEvent::Kind kind, std::string text,
                          Exit status) {
  if (std::exchange(is_over_, true)) return;
  events_.push_back({kind, std::move(text), status});
}

void WatcherState::say_watch() {
  MessageWriter watch(Verb::kWatch);
  outgoing_.emplace_back(
      watch.field("version", uint64_t{kWireVersion}).finish());
}

void WatcherState::ask() {
  if (is_over_ || std::exchange(asks_, true) || !is_linked_) return;
  say_watch();
}

// ---- the connection ---------------------------------------------------------

void WatcherState::link_up(int64_t now) {
  is_linked_ = true;
  heard_ = was_told_ ? now : heard_;
  if (asks_) say_watch();
}

void WatcherState::link_down() {
  is_linked_ = false;
  joiner_ = Joiner();
  outgoing_.clear();
  if (!was_told_) return;  // another connection is tried
  finish(WatchEvent::Kind::kLost,
         callee_.name() + " is lost: the connection ended");
}

void WatcherState::link_refused(bool by_key, bool for_good) {
  tried_ = "what is there took no connection of ours";
  if (!for_good) return;
  finish(WatchEvent::Kind::kRefused,
         by_key ? callee_.name() + " " +
                      callee_.not_admitting("this key, " +
                                            options_.trust.keys->open)
                : callee_.listener() + " " +
                      callee_.not_connecting(options_.trust.keys.has_value()));
}

void WatcherState::link_untrusted(const std::string& why, bool for_good) {
  tried_ = why;
  if (!for_good) return;
  finish(WatchEvent::Kind::kRefused,
         callee_.listener() + " " + callee_.not_trusted(why));
}

// ---- what comes -------------------------------------------------------------

void WatcherState::receive(Frame frame, int64_t now) {
  if (is_over_) return;
  heard_ = now;
  const auto owned = joiner_.take(std::move(frame));
  if (!owned.ok()) {
    return finish(WatchEvent::Kind::kLost,
                  callee_.sent_no_message(owned.error().message));
  }
  if (owned.value().has_value()) take(owned.value()->message);
}

void WatcherState::take(const Message& message) {
  const std::string who = callee_.name();
  if (message.verb == Verb::kState) {
    asks_ = false;
    was_told_ = true;
    is_refused_ = false;
    events_.push_back(
        {WatchEvent::Kind::kState, std::string(message.body), Exit::kDone});
  } else if (message.verb == Verb::kBye) {
    const auto status = status_of(message);
    if (status.ok()) {
      return finish(WatchEvent::Kind::kEnded, "", status.value());
    }
    finish(WatchEvent::Kind::kLost, who + ": " + status.error().message);
  } else if (message.verb == Verb::kRefuse) {
    take_refusal(who + " says: " + printable(message.body));
  } else {
    finish(WatchEvent::Kind::kLost, who + " said " +
                                        std::string(name_of(message.verb)) +
                                        " to one who watches");
  }
}

// A watcher whose process was stopped is forgotten by gt-route, so it asks
// again after its first refusal.
void WatcherState::take_refusal(std::string why) {
  if (!was_told_ || std::exchange(is_refused_, true)) {
    return finish(WatchEvent::Kind::kRefused, std::move(why));
  }
  say_watch();
}

// ---- time -------------------------------------------------------------------

void WatcherState::tick(int64_t now, bool all_read) {
  if (is_over_ || was_told_ || !all_read) return;
  if (now - heard_ < options_.connect_limit) return;
  finish(WatchEvent::Kind::kLost,
         (is_linked_ ? "nothing was heard of " : "there is no ") +
             callee_.name() + " within " +
             seconds_text(options_.connect_limit) +
             (tried_.empty() ? "" : "; " + tried_));
}

int64_t WatcherState::next_tick() const {
  return is_over_ || was_told_ ? INT64_MAX : heard_ + options_.connect_limit;
}

// ---- the socket -------------------------------------------------------------

Watcher::Watcher(Context& context, const WatcherOptions& options)
    : state_(options, now_ms()),
      caller_(context, link_options(options), state_) {}

Result<std::unique_ptr<Watcher>> Watcher::make(Context& context,
                                               const WatcherOptions& options) {
  std::unique_ptr<Watcher> watcher(new Watcher(context, options));
  const Status connects = watcher->caller_.connect(options.endpoint);
  if (!connects.ok()) return connects.error();
  return watcher;
}

void Watcher::ask() {
  state_.ask();
  caller_.flush();
}

}  // namespace gt::net
