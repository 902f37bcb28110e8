// VisitState: a client's side of its connection to gt-emit -l
// (client_connections.h). It says hello, gives signs of life, sends no more
// than it was told there is room for, and hands over what comes. It uses no
// socket and no clock: time is passed in, in milliseconds, and messages to be
// sent are taken out by next().
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "base/take_front.h"
#include "net/caller.h"
#include "net/keys.h"
#include "net/refusal.h"
#include "net/timing.h"
#include "serve/client_hello.h"

namespace gt::serve {

struct VisitIdentity {
  std::string endpoint;  // its name in messages for people
  std::string table;     // digest of the op table
  ClientHello hello;     // as it begins a new visit
  net::Trust trust;
  net::Timing timing;
  int64_t connect_limit = 10'000;  // ms without a message before the welcome
};

struct VisitEvent {
  enum class Kind : uint8_t {
    kResults,  // text: bytes of results
    kReport,   // text: a message for people
    kNotice,   // text: a message for people about the connection
    // After one of the following kinds the visit is over.
    kBye,   // status; text says why if it is ended before its time
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

  // True if the connection is there, and messages are heard.
  bool is_here() const { return is_welcome_ && !is_away_; }
  // True if all messages of the program were taken.
  bool is_heard() const { return is_here() && unheard_.empty(); }
  // Returns the bytes of text that may be sent now; 0 before the welcome.
  size_t room() const { return static_cast<size_t>(room_ - sent_); }
  // `lines` is the number of lines in a round, after which line numbers begin
  // again; 0: they never do.
  void input(std::string_view name, bool at, size_t lines);
  void text(std::string_view bytes);  // at most room(), and net::kMaxBody
  void end();
  // Says that so many bytes of results and so many reports, counted from the
  // beginning, have been delivered.
  void taken(uint64_t bytes, uint64_t reports);
  // Leaves. Results that come from now on are ignored; a bye is still taken.
  void leave();

 private:
  void say(std::string message);
  void say_hello();
  // Sends a message of the program, which is sent again if the connection ends.
  void say_program(std::string message);
  void take(const net::Message& message);
  void take_welcome(net::NumberReader& numbers);
  void take_bye(const net::Message& message);
  void forget(uint64_t said);
  // The connection ended: the visit goes on if the client may come back.
  void go_away(const std::string& why);
  void finish(VisitEvent::Kind kind, Exit status, std::string text);

  VisitIdentity me_;
  const net::Callee callee_;
  bool is_up_ = false;
  bool is_welcome_ = false;
  bool is_away_ = false;  // it was welcome, and has no connection now
  bool asks_ = false;     // it asks on a connection whether it may come back
  bool leaves_ = false;
  bool is_over_ = false;
  uint64_t room_ = 0, sent_ = 0;
  uint64_t visit_ = 0;  // the number that the welcome gave it
  int64_t keep_ = 0;    // milliseconds that it is kept; 0: it cannot come back
  // The messages of the program that may not have been taken, and the number of
  // the first; kept if the client may come back.
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
