// MemberState is a worker's side of the protocol with gt-route: it says hello,
// gives signs of life, reports progress, and hands over what comes. Until its
// welcome it has nothing to lose, so it retries after everything except a
// refusal, less and less often. It uses no socket and no clock: it is passed
// the time, in milliseconds, and hands out what is to be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/exit.h"
#include "base/take_front.h"
#include "net/caller.h"
#include "net/joiner.h"
#include "net/keys.h"
#include "net/ran.h"
#include "net/refusal.h"
#include "net/roster.h"
#include "net/timing.h"

namespace gt::net {

// What a worker says about itself, and how it reaches gt-route.
struct MemberOptions {
  WorkerInfo info;
  std::string table;  // digest of the op table
  std::string token;
  uint64_t epoch = 0;  // the epoch it had, if it was attached before
  std::string host;    // gt-route's endpoint, shown to people
  Trust trust;
  Timing timing;
  int64_t connect_limit = 30000;  // most ms of silence before the welcome
  std::function<uint64_t()> clock = wall_us;  // microseconds since 1970
};

// What gt-route's welcome says.
struct Welcome {
  uint32_t worker = 0;
  uint32_t workers = 0;
  uint64_t epoch = 0;
  std::string session;
  std::string file;
  std::vector<RosterEntry> roster;  // by worker, including this one
};

// Something that a member hands over.
struct MemberEvent {
  enum class Kind : uint8_t {
    kAttached,  // see welcome()
    kMessage,   // lines, block, hot, forget
    kEnd,       // no more lines: finish, say bye
    kPeerLost,  // another worker is lost, and the run goes on
    // From here on it is over, and `why` is for people.
    kRefused,  // this worker is not accepted, and never will be
    kAborted,  // gt-route said so
    kLost,     // gt-route is silent or gone, or broke the protocol
  };
  Kind kind = Kind::kMessage;
  std::string why;
  OwnedMessage owned;
  uint32_t worker = 0;  // of kPeerLost
};

class MemberState : public CallerState {
 public:
  MemberState(MemberOptions options, int64_t now);

  void link_up(int64_t now) override;
  void link_down() override;
  void link_refused(bool by_key, bool for_good) override;
  void link_untrusted(const std::string& why, bool for_good) override;
  void receive(Frame frame, int64_t now) override;
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override { return next_beat_; }

  bool next(MemberEvent& event) { return take_front(events_, event); }
  bool next(Frame& out) override { return take_front(outgoing_, out); }

  bool is_attached() const { return state_ == State::kAttached; }
  bool is_over() const { return state_ == State::kOver; }
  const Welcome& welcome() const { return welcome_; }

  // Gives back the credit of so many bytes of lines (OwnedMessage::bytes).
  // gt-route is told with the next `done`, or at once if it is much.
  void give_back(size_t bytes);
  // Says that all instructions up to `seq` have run, and that the worker has
  // waited for `wait_ms` ms for `waits_for`, at instruction `waits_at` (wire.h,
  // `done`). This is sent now, and again at every beat.
  void done(uint64_t seq, uint64_t wait_ms = 0, std::string_view waits_for = {},
            uint64_t waits_at = 0);
  // is_logged() is true if gt-route wants to know what ran; ran() tells it
  // (ran.h).
  bool is_logged() const { return told_time_.told != 0; }
  void ran(std::string_view body);
  // is_watched() is true if somebody watches; used() then tells what the worker
  // has used (used.h).
  bool is_watched() const { return is_watched_; }
  void used(std::string_view body);
  void send(Frame frame);  // results, report
  // Sends the last message. `why` says why the worker ends early, or is "".
  void bye(Exit status, std::string_view why);

 private:
  enum class State : uint8_t { kConnecting, kHello, kAttached, kOver };
  // What happened to connections before the welcome.
  struct Tries {
    bool was_refused = false;
    std::string untrusted;   // why the process there is not trusted, or ""
    bool was_there = false;  // a connection was made, but no welcome came
    std::string gave_up;     // what its abort said, or ""
  };
  // The contents of a `done`.
  struct Progress {
    uint64_t seq = 0;
    uint64_t taken = 0;  // bytes of lines
    uint64_t told = 0;   // taken, when the last `done` was sent
    uint64_t wait_ms = 0;
    uint64_t wait_at = 0;
    std::string waits_for;
  };

  void take(OwnedMessage owned);
  void take_welcome(const Message& message);
  void take_loss(const Message& message);
  void say_hello();
  void say_hello_again(int64_t now);
  void say_done();
  void answer_beat();
  void take_time(const Message& message);
  std::string why_none() const;
  void finish(MemberEvent::Kind kind, std::string why);

  MemberOptions options_;
  const Callee callee_;
  State state_ = State::kConnecting;
  Welcome welcome_;
  Joiner joiner_;
  std::deque<MemberEvent> events_;
  std::deque<Frame> outgoing_;
  int64_t sign_;  // last sign of gt-route before the welcome
  int64_t heard_;
  int64_t looked_;
  int64_t next_beat_;
  int64_t hello_at_ = 0;  // when to say hello again after an abort; 0: no abort
  int64_t back_off_ = 100;
  Tries tries_;
  Progress progress_;
  ToldTime told_time_;  // the best time of the last minute
  int times_ = 0;       // times told since told_time_
  bool is_watched_ = false;
};

}  // namespace gt::net
