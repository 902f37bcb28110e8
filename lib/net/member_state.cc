#include "net/member_state.h"

#include <algorithm>
#include <utility>

#include "base/message.h"
#include "base/printable.h"
#include "base/text.h"

namespace gt::net {
namespace {

// So many bytes of credit are given back at once, without waiting for a beat.
constexpr uint64_t kMuch = uint64_t{256} << 10;
// Clocks drift, so a time that gt-route told is used for so many beats.
constexpr int kGoodTimes = 120;

}  // namespace

MemberState::MemberState(MemberOptions options, int64_t now)
    : options_(std::move(options)),
      callee_{"gt-route", options_.host, "--route-key"},
      sign_(now),
      heard_(now),
      looked_(now),
      next_beat_(now + options_.timing.beat) {}

void MemberState::finish(MemberEvent::Kind kind, std::string why) {
  if (is_over()) return;
  state_ = State::kOver;
  events_.push_back({kind, std::move(why), {}});
}

// ---- the connection ---------------------------------------------------------

void MemberState::link_up(int64_t now) {
  if (state_ != State::kConnecting) return;
  tries_.untrusted.clear();
  state_ = State::kHello;
  heard_ = now;
  sign_ = now;
  say_hello();
}

void MemberState::link_down() {
  if (is_attached()) {
    finish(MemberEvent::Kind::kLost,
           callee_.name() + " is lost: the connection ended");
  }
  // Before the worker is attached nothing is lost, so another connection is
  // tried.
  if (state_ != State::kHello) return;
  tries_.was_there = true;
  state_ = State::kConnecting;
  hello_at_ = 0;
  outgoing_.clear();
}

void MemberState::link_refused(bool by_key, bool for_good) {
  tries_.was_refused = true;
  if (!for_good) return;
  finish(MemberEvent::Kind::kRefused,
         by_key ? callee_.name() + " " +
                      callee_.not_admitting("this worker's key, " +
                                            options_.trust.keys->open)
                : callee_.listener() + " " +
                      callee_.not_connecting(options_.trust.keys.has_value()));
}

void MemberState::link_untrusted(const std::string& why, bool for_good) {
  tries_.untrusted = why;
  if (!for_good) return;
  finish(MemberEvent::Kind::kRefused, callee_.listener() + " " +
                                          callee_.not_trusted(why) +
                                          callee_.same_user_rule());
}

// Says hello again after gt-route has dropped us. The delay differs from worker
// to worker, so that they do not all come at once.
void MemberState::say_hello_again(int64_t now) {
  constexpr int64_t kMostBackOff = 2000;  // milliseconds
  const auto jitter = static_cast<int64_t>(options_.info.pid);
  hello_at_ = now + back_off_ + jitter % back_off_;
  back_off_ = std::min(2 * back_off_, kMostBackOff);
}

void MemberState::say_hello() {
  hello_at_ = 0;
  MessageWriter hello(Verb::kHello);
  hello.field("version", uint64_t{kWireVersion});
  hello.field("table", options_.table).field("token", options_.token);
  hello.field("epoch", options_.epoch);
  add_info(hello, options_.info);
  outgoing_.push_back(Frame(hello.finish()));
}

// ---- what comes -------------------------------------------------------------

void MemberState::receive(Frame frame, int64_t now) {
  if (is_over() || state_ == State::kConnecting) return;
  heard_ = now;
  if (!is_attached()) sign_ = now;
  const size_t bytes = uses_credit(frame.bytes()) ? frame.size() : 0;
  auto owned = joiner_.take(std::move(frame));
  if (!owned.ok()) {
    return finish(MemberEvent::Kind::kLost,
                  callee_.sent_no_message(owned.error().message));
  }
  // The Joiner bounds the parts that it holds, so their credit is given back
  // now.
  if (!owned.value().has_value()) return give_back(bytes);
  owned.value()->bytes = bytes;
  take(std::move(*owned.value()));
}

void MemberState::take(OwnedMessage owned) {
  using Kind = MemberEvent::Kind;
  const Verb verb = owned.message.verb;
  switch (verb) {
    case Verb::kBeat:
      answer_beat();
      return take_time(owned.message);
    case Verb::kWatch:
      if (!is_attached()) break;
      is_watched_ = owned.message.text("on") == "1";
      return;
    case Verb::kRefuse:
      return finish(Kind::kRefused, printable(owned.message.body));
    case Verb::kAbort:
      if (!is_attached()) {
        tries_.gave_up = printable(owned.message.body);
        return say_hello_again(heard_);
      }
      return finish(Kind::kAborted, printable(owned.message.body));
    case Verb::kBye:  // the answer to ours
      if (!is_attached()) break;
      return finish(Kind::kLost, callee_.name() + " said bye");
    case Verb::kWelcome:
      if (state_ == State::kHello) return take_welcome(owned.message);
      break;
    case Verb::kEnd:
      if (!is_attached()) break;
      return events_.push_back({Kind::kEnd, {}, std::move(owned)});
    case Verb::kGone:
      if (!is_attached()) break;
      return take_loss(owned.message);
    case Verb::kLines:
    case Verb::kBlock:
    case Verb::kHot:
    case Verb::kForget:
      if (!is_attached()) break;
      return events_.push_back({Kind::kMessage, {}, std::move(owned)});
    default:
      break;
  }
  finish(Kind::kLost, callee_.name() + " said " + std::string(name_of(verb)) +
                          (is_attached() ? " to a worker that is attached"
                                         : " before welcome"));
}

void MemberState::take_welcome(const Message& message) {
  NumberReader numbers(message);
  const uint64_t worker = numbers.need("worker");
  const uint64_t workers = numbers.need("workers");
  const uint64_t epoch = numbers.need("epoch");
  auto roster = parse_roster(message.body);
  Status status = numbers.status();
  if (!roster.ok()) status = roster.error();
  if (status.ok() &&
      (workers > kMaxWorkers || worker >= workers ||
       (!(options_.info.data.empty() && roster.value().empty()) &&
        roster.value().size() != workers))) {
    status = Error{"worker=" + std::to_string(worker) +
                   " workers=" + std::to_string(workers) + " with " +
                   std::to_string(roster.value().size()) + " in the list"};
  }
  if (!status.ok()) {
    return finish(MemberEvent::Kind::kLost,
                  callee_.name() + ": welcome: " + status.error().message);
  }
  welcome_ = {static_cast<uint32_t>(worker),
              static_cast<uint32_t>(workers),
              epoch,
              message.text("session"),
              message.text("file"),
              std::move(roster.value())};
  state_ = State::kAttached;
  take_time(message);
  events_.push_back({MemberEvent::Kind::kAttached, {}, {}});
}

void MemberState::take_loss(const Message& message) {
  const auto worker = number(message, "worker");
  if (!worker.ok() || worker.value() >= welcome_.workers ||
      worker.value() == welcome_.worker) {
    return finish(MemberEvent::Kind::kLost,
                  callee_.name() + " said gone of no other worker");
  }
  events_.push_back({MemberEvent::Kind::kPeerLost,
                     printable(message.body),
                     {},
                     static_cast<uint32_t>(worker.value())});
}

// ---- what goes --------------------------------------------------------------

void MemberState::give_back(size_t bytes) {
  progress_.taken += bytes;
  if (progress_.taken - progress_.told >= kMuch) say_done();
}

void MemberState::done(uint64_t seq, uint64_t wait_ms,
                       std::string_view waits_for, uint64_t waits_at) {
  progress_.seq = seq;
  progress_.wait_ms = wait_ms;
  progress_.wait_at = waits_at;
  progress_.waits_for = words(waits_for);
  say_done();
}

void MemberState::say_done() {
  if (state_ != State::kAttached && state_ != State::kHello) return;
  progress_.told = progress_.taken;
  MessageWriter done(Verb::kDone);
  done.field("seq", progress_.seq)
      .field("bytes", progress_.taken)
      .field("wait", progress_.wait_ms);
  if (progress_.wait_at != 0) done.field("at", progress_.wait_at);
  outgoing_.push_back(Frame(done.finish(progress_.waits_for)));
}

// Sends our beat together with gt-route's, since a beat on its own wakes both
// sides. Ours leaves when gt-route's comes, so our own timer is set a little
// later than that.
void MemberState::answer_beat() {
  const int64_t beat = options_.timing.beat;
  if (next_beat_ - heard_ <= beat * 3 / 4) say_done();
  next_beat_ = heard_ + beat * 5 / 4;
}

void MemberState::take_time(const Message& message) {
  const auto told = number(message, "time");
  if (!told.ok()) return;
  const ToldTime time{told.value(), options_.clock()};
  const bool is_old = ++times_ > kGoodTimes;
  if (is_logged() && !is_old && !time.is_better_than(told_time_)) return;
  told_time_ = time;
  times_ = 0;
}

void MemberState::ran(std::string_view body) {
  if (!is_attached() || !is_logged()) return;
  MessageWriter message(Verb::kRan);
  message.field("time", options_.clock());
  message.field("told", told_time_.told).field("heard", told_time_.heard);
  outgoing_.push_back(Frame(message.finish(body)));
}

void MemberState::used(std::string_view body) {
  if (is_watched()) send(Frame(MessageWriter(Verb::kState).finish(body)));
}

void MemberState::bye(Exit status, std::string_view why) {
  MessageWriter message(Verb::kBye);
  message.field("status", static_cast<uint64_t>(status));
  send(Frame(message.finish(words(why))));
}

void MemberState::send(Frame frame) {
  if (is_attached()) outgoing_.push_back(std::move(frame));
}

// Returns why there was no welcome in time.
std::string MemberState::why_none() const {
  const std::string limit = seconds_text(options_.connect_limit);
  const std::string said = tries_.gave_up.empty()
                               ? ""
                               : "; the last that it said: " + tries_.gave_up;
  if (state_ == State::kHello) {
    return callee_.name() + " is lost: nothing was heard of it for " + limit +
           said;
  }
  if (tries_.was_there) {
    return callee_.name() +
           " ended before it had all its workers, and no other came within " +
           limit + said;
  }
  return callee_.not_there(options_.connect_limit,
                           tries_.was_refused && options_.trust.keys,
                           tries_.untrusted);
}

// ---- time -------------------------------------------------------------------

void MemberState::tick(int64_t now, bool all_read) {
  if (is_over()) return;
  if (now >= next_beat_) {
    next_beat_ = now + options_.timing.beat;
    say_done();
  }
  if (!all_read) return;
  const int64_t passed = now - std::exchange(looked_, now);
  heard_ = std::min(heard_ + options_.timing.excused(passed), now);
  if (!is_attached()) {
    if (hello_at_ != 0 && now >= hello_at_) say_hello();
    if (now - sign_ < options_.connect_limit) return;
    return finish(MemberEvent::Kind::kLost, why_none());
  }
  if (now - heard_ < options_.timing.lost) return;
  finish(MemberEvent::Kind::kLost,
         callee_.name() + " is lost: nothing was heard of it for " +
             seconds_text(options_.timing.lost));
}

}  // namespace gt::net
