// A client's side of its connection to gt-emit -l (reception.h): says hello,
// gives signs of life, keeps to the room that it was told, hands over what
// comes. Knows no socket and no clock: time is passed in, in milliseconds, and
// what is to be sent is handed out.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "base/take_front.h"
#include "net/caller.h"
#include "net/host_state.h"
#include "net/keys.h"

namespace gt::serve {

struct VisitIdentity {
  std::string endpoint;  // to be named to people
  std::string table;     // digest of the op table
  std::string user;
  std::optional<net::Keys> keys;  // its own
  int64_t seed = 0;
  uint64_t history = 1'000'000;
  bool fails_fast = false;
  bool replays = true;
  // As of Guest.
  std::string name;
  bool attaches = false;
  bool stays = false;
  net::Timing timing;
  int64_t connect_limit = 10'000;  // ms without a word before the welcome
};

struct VisitEvent {
  enum class Kind : uint8_t {
    kResults,  // text: bytes of results
    kReport,   // text: for people
    kNotice,   // text: for people, of the connection
    // From here on it is over.
    kBye,   // status; text says why if it is before its time
    kLost,  // text says why, as a message for people
  };
  Kind kind = Kind::kResults;
  Exit status = Exit::kDone;
  std::string text;
};

class VisitState : public net::CallerState {
 public:
  VisitState(VisitIdentity identity, int64_t now);

  void link_up(int64_t now) override;
  void link_down() override;
  void link_refused(bool by_key, bool for_good) override;
  void link_untrusted(const std::string& why, bool for_good) override;
  void receive(net::Frame frame, int64_t now) override;
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override { return next_beat_; }
  bool next(net::Frame& out) override { return take_front(outgoing_, out); }

  bool next(VisitEvent& event) { return take_front(events_, event); }
  bool is_over() const { return is_over_; }

  // Whether the connection is there, and what is said is heard.
  bool is_here() const { return is_welcome_ && !is_away_; }
  // Whether all messages that were said of the program were taken.
  bool is_heard() const { return is_here() && unheard_.empty(); }
  // Bytes of text that may be sent now; 0 before the welcome.
  size_t room() const { return static_cast<size_t>(room_ - sent_); }
  // `lines`: of a round, after which line numbers begin again; 0: none.
  void input(std::string_view name, bool at, size_t lines);
  void text(std::string_view bytes);  // at most room(), and net::kMaxBody
  void end();
  // So many bytes of results, and so many reports, in all, are where they
  // belong.
  void taken(uint64_t bytes, uint64_t reports);
  // It leaves. Results that come from now on are not taken; a bye does.
  void leave();

 private:
  void say(std::string message);
  void say_hello();
  // A message of the program, which is said again if the connection ends.
  void say_program(std::string message);
  void take(const net::Message& message);
  void take_welcome(net::NumberReader& numbers);
  void take_bye(const net::Message& message);
  void forget(uint64_t said);
  // The connection ended: the visit goes on if it may come back.
  void go_away(const std::string& why);
  void finish(VisitEvent::Kind kind, Exit status, std::string text);

  VisitIdentity me_;
  bool is_up_ = false;
  bool is_welcome_ = false;
  bool is_away_ = false;  // it was welcome, and has no connection ...
  bool asks_ = false;     // ... or asks over that whether it may come back
  bool leaves_ = false;
  bool is_over_ = false;
  uint64_t room_ = 0, sent_ = 0;
  uint64_t visit_ = 0;  // as the welcome called it
  int64_t keep_ = 0;    // milliseconds; 0: it cannot come back
  // Messages of the program that may not have been taken, and the number of
  // the first; kept if it may come back.
  std::deque<net::Frame> unheard_;
  uint64_t heard_of_program_ = 0;
  uint64_t results_ = 0, reports_ = 0;  // bytes and messages that came
  std::string untrusted_;
  bool was_refused_ = false;
  std::deque<net::Frame> outgoing_;
  std::deque<VisitEvent> events_;
  int64_t heard_;
  int64_t judged_;
  int64_t next_beat_;
};

}  // namespace gt::serve
