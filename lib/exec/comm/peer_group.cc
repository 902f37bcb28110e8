#include "exec/comm/peer_group.h"

#include <algorithm>
#include <memory>

#include "base/text.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;
using std::chrono::milliseconds;

// A worker that is silent for so long is asked for a sign of life.
constexpr milliseconds kAskAfter{1000};

}  // namespace

std::string PeerGroup::name_of(unsigned worker) const {
  std::string name = "worker " + std::to_string(worker);
  if (worker < options_.names.size() && !options_.names[worker].empty()) {
    name += " (" + options_.names[worker] + ")";
  }
  return name;
}

void PeerGroup::lose(unsigned worker, const std::string& why) {
  Peer& peer = peers_[worker];
  if (peer.loss != nullptr) return;
  peer.loss = std::make_shared<const std::string>(why);
  receiver_.take_loss(worker);
}

// ---- messages ---------------------------------------------------------------

void PeerGroup::send(unsigned worker, const PeerMessage& message) {
  if (peers_[worker].loss != nullptr) return;
  const Status sent = options_.link->send(worker, to_text(message));
  if (sent.ok()) return;
  lose(worker,
       "cannot send to " + name_of(worker) + ": " + sent.error().message);
}

void PeerGroup::pump(milliseconds most) {
  Incoming message;
  const bool has_come = options_.link->receive(message, most);
  take_losses();
  if (!has_come) return;
  if (message.from >= options_.workers || message.from == options_.self) return;
  if (message.is_lost) {
    return lose(message.from, name_of(message.from) + ": " + message.bytes);
  }
  handle(message.from, message.bytes);
}

void PeerGroup::take_losses() {
  std::vector<Loss> told;
  {
    const std::lock_guard lock(mutex_);
    told.swap(told_);
  }
  for (const Loss& loss : told) lose(loss.worker, loss.why);
}

void PeerGroup::handle(unsigned from, std::string_view bytes) {
  Peer& peer = peers_[from];
  if (peer.loss != nullptr) return;
  peer.sign = Clock::now();
  const auto message = parse_peer_message(bytes);
  const Status taken = message.ok() ? take_message(from, message.value())
                                    : Status(message.error());
  if (taken.ok()) return;
  lose(from, name_of(from) +
                 " sent a message that cannot be: " + taken.error().message);
}

Status PeerGroup::take_message(unsigned from, const PeerMessage& message) {
  const bool is_hello = message.kind == Kind::kHello;
  if (peers_[from].is_greeted == is_hello) {
    return Error{is_hello ? "a second hello" : "it has not said hello"};
  }
  peers_[from].is_greeted = true;
  if (message.kind == Kind::kHere) return ok_status();
  if (message.kind != Kind::kAsk) return receiver_.take(from, message);
  PeerMessage here;
  here.kind = Kind::kHere;
  send(from, here);
  return ok_status();
}

// ---- waits ------------------------------------------------------------------

milliseconds PeerGroup::interval() const {
  return std::clamp(options_.patience / 4, milliseconds(1), kAskAfter);
}

Fault PeerGroup::await(unsigned worker, const Awaited& what,
                       const std::function<bool()>& done) {
  if (done()) return nullptr;
  const Clock::time_point since = Clock::now();
  note_wait(what, since);
  Fault fault;
  while (!done() && (fault = never(worker)) == nullptr) {
    pump(interval());
    check_sign(worker, since);
  }
  const std::lock_guard lock(mutex_);
  wait_.reset();
  return fault;
}

void PeerGroup::note_wait(const Awaited& what, Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  wait_ = Wait{what, since};
}

// A device finishes within microseconds or takes long, so the thread sleeps
// only after some looks without any progress.
void PeerGroup::await_device(const Awaited& what,
                             const std::function<Look()>& look) {
  constexpr int kLooks = 100;
  note_wait(what, Clock::now());
  int still = 0;
  for (Look seen = look(); seen != Look::kDone && !is_aborted();
       seen = look()) {
    still = seen == Look::kMoved ? 0 : still + 1;
    pump(milliseconds(still < kLooks ? 0 : 1));
  }
  const std::lock_guard lock(mutex_);
  wait_.reset();
}

// Returns why a wait for the worker must end without success; null if it goes
// on.
Fault PeerGroup::never(unsigned worker) const {
  if (!is_aborted_.load()) return peers_[worker].loss;
  const std::lock_guard lock(mutex_);
  return std::make_shared<const std::string>(aborted_);
}

void PeerGroup::listen(bool is_owed) {
  pump(is_owed ? interval() : milliseconds(-1));
}

void PeerGroup::check_sign(unsigned worker, Clock::time_point since) {
  Peer& peer = peers_[worker];
  if (peer.loss != nullptr) return;
  const Clock::time_point now = Clock::now();
  const Clock::time_point last = std::max(peer.sign, since);
  if (now - last > options_.patience) {
    return lose(worker, "no sign of " + name_of(worker) + " for " +
                            seconds_text(options_.patience.count()));
  }
  if (now - std::max(last, peer.asked) < interval()) return;
  peer.asked = now;
  PeerMessage ask;
  ask.kind = Kind::kAsk;
  send(worker, ask);
}

// ---- any thread -------------------------------------------------------------

Waiting PeerGroup::waiting() const {
  const std::lock_guard lock(mutex_);
  if (!wait_) return {};
  const Awaited& what = wait_->what;
  std::string text;
  if (what.line != 0) text = "line " + std::to_string(what.line) + ": ";
  const auto since = Clock::now() - wait_->since;
  return {text + what.what,
          std::chrono::duration_cast<milliseconds>(since).count(), what.seq};
}

void PeerGroup::tell_loss(unsigned worker, const std::string& why) {
  if (worker >= options_.workers || worker == options_.self) return;
  {
    const std::lock_guard lock(mutex_);
    told_.push_back({worker, why});
  }
  options_.link->wake();
}

void PeerGroup::abort(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_.empty()) aborted_ = why;
  }
  is_aborted_.store(true);
  options_.link->wake();
}

}  // namespace gt::exec::comm
