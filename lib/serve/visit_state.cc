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
  if (is_welcome_) return;
  is_up_ = true;
  heard_ = now;
  untrusted_.clear();
  MessageWriter hello(Verb::kHello);
  hello.field("version", uint64_t{net::kWireVersion})
      .field("table", me_.table)
      .field("user", me_.user)
      .field("seed", static_cast<uint64_t>(me_.seed))
      .field("history", me_.history)
      .field("fail_fast", uint64_t{me_.fails_fast})
      .field("replay", uint64_t{me_.replays});
  say(hello.finish());
}

void VisitState::link_down() {
  is_up_ = false;
  if (!is_welcome_) return outgoing_.clear();
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         "gt-emit at " + me_.endpoint + " is lost: the connection ended");
}

void VisitState::link_refused(bool by_key, bool for_good) {
  if (!for_good) return;
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         by_key ? "gt-emit at " + me_.endpoint + " does not admit the key " +
                      me_.keys->open + "; its --allow lists whom it does"
                : "what listens at " + me_.endpoint +
                      " takes no connection of ours: " +
                      (me_.keys ? "it has no keys"
                                : "it wants keys (--key, --server-key)") +
                      ", or it is no gt-emit");
}

void VisitState::link_untrusted(const std::string& why, bool for_good) {
  untrusted_ = why;
  if (!for_good) return;
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         "what listens at " + me_.endpoint +
             " is not taken for gt-emit: " + why +
             "; without keys only processes of one user work together (--key "
             "and --server-key, or --insecure, admit others)");
}

// ---- what comes -------------------------------------------------------------

void VisitState::receive(net::Frame frame, int64_t now) {
  if (is_over_) return;
  heard_ = now;
  const auto letter = net::read_letter(std::move(frame));
  if (letter.ok()) return take(letter.value().message);
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         "what came from " + me_.endpoint +
             " is no message of gt-emit: " + letter.error().message);
}

void VisitState::take(const net::Message& message) {
  net::NumberReader numbers(message);
  switch (message.verb) {
    case Verb::kWelcome:
      is_welcome_ = true;
      break;
    case Verb::kRoom:
      room_ = std::max(room_, numbers.need("bytes"));
      break;
    case Verb::kResults:
      events_.push_back(
          {VisitEvent::Kind::kResults, Exit::kDone, std::string(message.body)});
      break;
    case Verb::kReport: {
      const auto status = net::status_of(message);
      events_.push_back({VisitEvent::Kind::kReport,
                         status.ok() ? status.value() : Exit::kDone,
                         std::string(message.body)});
      break;
    }
    case Verb::kBye: {
      const auto status = net::status_of(message);
      finish(VisitEvent::Kind::kBye, status.ok() ? status.value() : Exit::kLost,
             printable(message.body));
      break;
    }
    case Verb::kRefuse:
      finish(VisitEvent::Kind::kLost, Exit::kLost,
             "gt-emit at " + me_.endpoint +
                 " does not take this client: " + printable(message.body));
      break;
    default:
      break;
  }
  if (numbers.status().ok()) return;
  finish(VisitEvent::Kind::kLost, Exit::kLost,
         "what came from " + me_.endpoint +
             " is no message of gt-emit: " + numbers.status().error().message);
}

// ---- what goes --------------------------------------------------------------

void VisitState::input(std::string_view name, bool at, size_t lines) {
  MessageWriter message(Verb::kInput);
  message.field("name", name).field("at", uint64_t{at});
  if (lines != 0) message.field("lines", uint64_t{lines});
  say(message.finish());
}

void VisitState::text(std::string_view bytes) {
  sent_ += bytes.size();
  say(MessageWriter(Verb::kText).finish(bytes));
}

void VisitState::end() { say(MessageWriter(Verb::kEnd).finish()); }

void VisitState::taken(uint64_t bytes) {
  MessageWriter message(Verb::kTaken);
  say(message.field("bytes", bytes).finish());
}

// ---- time -------------------------------------------------------------------

void VisitState::tick(int64_t now, bool all_read) {
  if (is_over_) return;
  if (now >= next_beat_) {
    next_beat_ = now + me_.timing.beat;
    if (is_welcome_) say(MessageWriter(Verb::kBeat).finish());
  }
  if (!all_read) return;
  const int64_t passed = now - std::exchange(judged_, now);
  heard_ = std::min(heard_ + me_.timing.excused(passed), now);
  const int64_t limit = is_welcome_ ? me_.timing.lost : me_.connect_limit;
  if (now - heard_ < limit) return;
  std::string why = "gt-emit at " + me_.endpoint +
                    " is lost: nothing was heard of it for " +
                    seconds_text(limit);
  if (!is_up_ && !is_welcome_) {
    why = "no gt-emit at " + me_.endpoint + " within " + seconds_text(limit);
    if (!untrusted_.empty()) why += "; of what is there, " + untrusted_;
  }
  finish(VisitEvent::Kind::kLost, Exit::kLost, std::move(why));
}

}  // namespace gt::serve
