#include "serve/visit_state.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "net/joiner.h"

namespace gt::serve {

using net::MessageWriter;
using net::Verb;

VisitState::VisitState(VisitIdentity identity, int64_t now)
    : me_(std::move(identity)),
      callee_{"gt-emit", me_.endpoint, "--server-key"},
      heard_(now),
      judged_(now),
      next_beat_(now + me_.timing.beat) {}

void VisitState::finish(VisitEvent::Kind kind, Exit status, std::string text) {
  if (std::exchange(is_over_, true)) return;
  events_.push_back({kind, status, std::move(text)});
}

void VisitState::say(std::string message) {
  if (!is_over_) outgoing_.push_back(net::Frame(std::move(message)));
}

// ---- the connection ---------------------------------------------------------

void VisitState::link_up(int64_t now) {
  if (is_welcome_ && !is_away_) return;
  is_up_ = true;
  heard_ = now;
  untrusted_.clear();
  say_hello();
}

void VisitState::say_hello() {
  asks_ = true;
  ClientHello hello = me_.hello;
  if (is_away_) {
    hello.attaches = true;
    hello.visit = visit_;
    hello.results = results_;
    hello.reports = reports_;
  }
  say(write_client_hello(hello, me_.table));
}

void VisitState::link_down() {
  is_up_ = false;
  outgoing_.clear();
  if (is_welcome_) go_away("the connection ended");
}

void VisitState::go_away(const std::string& why) {
  const std::string lost = callee_.name() + " is lost: " + why;
  if (keep_ == 0) return finish(VisitEvent::Kind::kLost, Exit::kLost, lost);
  asks_ = false;
  if (std::exchange(is_away_, true)) return;
  events_.push_back(
      {VisitEvent::Kind::kNotice, Exit::kDone,
       lost + "; trying for " + seconds_text(keep_) + " to come back"});
  // The connection may still be there, as after a process was stopped.
  if (is_up_) say_hello();
}

void VisitState::link_refused(bool by_key, bool for_good) {
  was_refused_ = true;
  if (!for_good) return;
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         by_key ? callee_.name() + " " +
                      callee_.not_admitting("the key " + me_.trust.keys->open)
                : callee_.listener() + " " +
                      callee_.not_connecting(me_.trust.keys.has_value()));
}

void VisitState::link_untrusted(const std::string& why, bool for_good) {
  untrusted_ = why;
  if (!for_good) return;
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         callee_.listener() + " " + callee_.not_trusted(why) +
             callee_.same_user_rule());
}

// ---- what comes -------------------------------------------------------------

void VisitState::receive(net::Frame frame, int64_t now) {
  if (is_over_) return;
  heard_ = now;
  if (is_away_ && is_up_ && !asks_) say_hello();
  const auto owned = net::read_owned_message(std::move(frame));
  if (owned.ok()) return take(owned.value().message);
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         callee_.sent_no_message(owned.error().message));
}

void VisitState::take(const net::Message& message) {
  net::NumberReader numbers(message);
  switch (message.verb) {
    case Verb::kWelcome:
      take_welcome(numbers);
      break;
    case Verb::kRoom:
      room_ = std::max(room_, numbers.need("bytes"));
      forget(numbers.need("said"));
      break;
    case Verb::kResults:
      if (leaves_ || is_away_) break;
      results_ += message.body.size();
      events_.push_back(
          {VisitEvent::Kind::kResults, Exit::kDone, std::string(message.body)});
      break;
    case Verb::kReport: {
      if (leaves_ || is_away_) break;
      ++reports_;
      const auto status = net::status_of(message);
      events_.push_back({VisitEvent::Kind::kReport,
                         status.ok() ? status.value() : Exit::kDone,
                         std::string(message.body)});
      break;
    }
    case Verb::kBye:
      take_bye(message);
      break;
    case Verb::kRefuse:
      finish(VisitEvent::Kind::kLost, Exit::kLost,
             callee_.name() +
                 " does not take this client: " + printable(message.body));
      break;
    default:
      break;
  }
  if (numbers.status().ok()) return;
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         callee_.sent_no_message(numbers.status().error().message));
}

void VisitState::take_welcome(net::NumberReader& numbers) {
  const bool was_away = std::exchange(is_away_, false);
  is_welcome_ = true;
  visit_ = numbers.need("visit");
  keep_ = static_cast<int64_t>(numbers.need("keep"));
  room_ = std::max(room_, numbers.need("room"));
  forget(numbers.need("said"));
  if (!was_away) return;
  for (const net::Frame& unheard : unheard_) outgoing_.push_back(unheard);
  if (leaves_) leave();
  events_.push_back({VisitEvent::Kind::kNotice, Exit::kDone,
                     callee_.name() + " is there again"});
}

void VisitState::take_bye(const net::Message& message) {
  const std::string why = printable(message.body);
  // gt-emit gave the visit up, but the connection is there to ask to come back.
  if (message.find("kept") != nullptr && keep_ != 0) {
    return go_away(why);
  }
  const auto status = net::status_of(message);
  finish(VisitEvent::Kind::kBye, status.ok() ? status.value() : Exit::kLost,
         why);
}

// gt-emit has taken `said` messages of the program: these need not be kept.
void VisitState::forget(uint64_t said) {
  for (; heard_of_program_ < said && !unheard_.empty(); ++heard_of_program_) {
    unheard_.pop_front();
  }
}

// ---- what goes --------------------------------------------------------------

void VisitState::say_program(std::string message) {
  net::Frame frame(std::move(message));
  if (keep_ != 0) unheard_.push_back(frame);
  if (!is_over_ && !is_away_) outgoing_.push_back(std::move(frame));
}

void VisitState::input(std::string_view name, bool at, size_t lines) {
  MessageWriter message(Verb::kInput);
  message.field("name", name).field("at", uint64_t{at});
  if (lines != 0) message.field("lines", uint64_t{lines});
  say_program(message.finish());
}

void VisitState::text(std::string_view bytes) {
  sent_ += bytes.size();
  say_program(MessageWriter(Verb::kText).finish(bytes));
}

void VisitState::end() { say_program(MessageWriter(Verb::kEnd).finish()); }

void VisitState::taken(uint64_t bytes, uint64_t reports) {
  if (is_away_) return;
  MessageWriter message(Verb::kTaken);
  say(message.field("bytes", bytes).field("reports", reports).finish());
}

void VisitState::leave() {
  leaves_ = true;
  if (is_here()) say(MessageWriter(Verb::kBye).finish());
}

// ---- time -------------------------------------------------------------------

void VisitState::tick(int64_t now, bool all_read) {
  if (is_over_) return;
  if (now >= next_beat_) {
    next_beat_ = now + me_.timing.beat;
    if (is_here()) say(MessageWriter(Verb::kBeat).finish());
  }
  if (!all_read) return;
  const int64_t passed = now - std::exchange(judged_, now);
  heard_ = std::min(heard_ + me_.timing.excused(passed), now);
  const int64_t limit = is_away_      ? keep_
                        : is_welcome_ ? me_.timing.lost
                                      : me_.connect_limit;
  if (now - heard_ < limit) return;
  const std::string why = "nothing was heard of it for " + seconds_text(limit);
  if (is_welcome_ && !is_away_) return go_away(why);
  std::string text = callee_.name() + " is lost: " + why;
  if (!is_up_ && !is_welcome_) {
    text = callee_.not_there(limit, was_refused_ && me_.trust.keys, untrusted_);
  }
  finish(VisitEvent::Kind::kLost, Exit::kLost, std::move(text));
}

}  // namespace gt::serve
