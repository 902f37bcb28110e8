#include "net/file_talk.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "base/text.h"

namespace gt::net {

FileTalk::FileTalk(BorrowerIdentity identity, int64_t now)
    : me_(std::move(identity)),
      callee_{"gt-emit", me_.endpoint, ""},
      began_(now),
      heard_(now),
      judged_(now),
      next_look_(now + me_.timing.beat) {}

void FileTalk::end(Over over, std::string why) {
  if (over_ != Over::kNot) return;
  over_ = over;
  why_ = callee_.name() + " " + std::move(why);
}

void FileTalk::link_up(int64_t now) {
  heard_ = now;
  untrusted_.clear();
  if (is_welcome_) return;
  MessageWriter hello(Verb::kHello);
  hello.field("version", uint64_t{kWireVersion})
      .field("files", uint64_t{1})
      .field("user", me_.user);
  if (me_.is_worker) hello.field("worker", uint64_t{1});
  hello_.clear();
  hello_.emplace_back(hello.finish());
}

void FileTalk::link_down() {
  if (is_welcome_) end(Over::kLink, "is lost: the connection ended");
}

void FileTalk::link_refused(bool by_key, bool for_good) {
  if (!for_good) return;
  end(Over::kRefused,
      by_key ? callee_.not_admitting("the key " + me_.trust.keys->open)
             : callee_.not_connecting(me_.trust.keys.has_value()));
}

void FileTalk::link_untrusted(const std::string& why, bool for_good) {
  untrusted_ = why;
  if (!for_good) return;
  end(Over::kRefused, callee_.not_trusted(why) + callee_.same_user_rule());
}

void FileTalk::receive(Frame frame, int64_t now) {
  heard_ = now;
  if (over_ != Over::kNot) return;
  auto owned = read_owned_message(std::move(frame));
  if (owned.ok()) return take(std::move(owned.value()));
  end(Over::kRefused,
      "said what is no message of gt: " + owned.error().message);
}

void FileTalk::take(OwnedMessage owned) {
  switch (owned.message.verb) {
    case Verb::kBeat:
      return;
    case Verb::kWelcome:
      is_welcome_ = true;
      return;
    case Verb::kRefuse:
      return end(Over::kRefused, "does not lend us files: " +
                                     printable(words(owned.message.body)));
    case Verb::kBye:
      return end(Over::kLink, "ended the connection: " +
                                  printable(words(owned.message.body)));
    case Verb::kData:
    case Verb::kKept:
    case Verb::kDone:
    case Verb::kReport:
      if (!waits()) break;
      ++answered_;
      answers_.push_back(std::move(owned));
      return;
    default:
      break;
  }
  end(Over::kRefused, "said " + std::string(name_of(owned.message.verb)) +
                          ", which nobody had asked");
}

void FileTalk::ask(Frame request, int64_t now) {
  if (!waits()) heard_ = now;  // before this, the lender had no reason to speak
  ++asked_;
  outgoing_.push_back(std::move(request));
}

bool FileTalk::next(OwnedMessage& answer) {
  if (!take_front(answers_, answer)) return false;
  ++taken_;
  return true;
}

void FileTalk::tick(int64_t now, bool all_read) {
  next_look_ = now + me_.timing.beat;
  if (!all_read) return;
  const int64_t excused = me_.timing.excused(now - std::exchange(judged_, now));
  heard_ = std::min(heard_ + excused, now);
  began_ = std::min(began_ + excused, now);
  if (!is_welcome_ && now - began_ >= me_.connect_limit) {
    return end(Over::kRefused,
               "cannot be reached within " + seconds_text(me_.connect_limit) +
                   (untrusted_.empty() ? "" : ": " + untrusted_));
  }
  if (is_welcome_ && waits() && now - heard_ >= me_.timing.lost) {
    end(Over::kLink, "is lost: nothing was heard of it for " +
                         seconds_text(me_.timing.lost));
  }
}

}  // namespace gt::net
