// A worker's side of its connection to gt-route: says hello, gives signs of
// life, tells what is done, hands over what comes. Until it is welcome it has
// nothing to lose, so it tries again whatever happens but a refusal, less and
// less often. Knows no socket and no clock: time is passed in, in milliseconds,
// and what is to be sent is handed out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/exit.h"
#include "base/take_front.h"
#include "net/caller.h"
#include "net/host_state.h"
#include "net/joiner.h"
#include "net/keys.h"
#include "net/ran.h"
#include "net/roster.h"

namespace gt::net {

struct MemberOptions {
  WorkerInfo info;
  std::string table;  // digest of the op table
  std::string token;
  uint64_t epoch = 0;        // the one it had, if it was attached before
  std::string host;          // gt-route's endpoint, to be named to people
  std::optional<Keys> keys;  // its own, and gt-route's public one
  std::string route_key;
  Timing timing;
  bool anyone = false;  // without keys: whoever listens there may be gt-route
  int64_t connect_limit = 30000;  // ms without a word before the welcome
  std::function<uint64_t()> clock = wall_us;  // microseconds since 1970
};

struct Welcome {
  uint32_t worker = 0;
  uint32_t workers = 0;
  uint64_t epoch = 0;
  std::string session;
  std::string file;
  std::vector<RosterEntry> roster;  // by worker, oneself included
};

struct MemberEvent {
  enum class Kind : uint8_t {
    kAttached,  // see welcome()
    kMessage,   // lines, block, hot, forget
    kEnd,       // no more lines: finish, say bye
    kPeerLost,  // another worker is, and the run goes on
    // From here on it is over, and `why` is for people.
    kRefused,  // this worker is not taken, nor will be
    kAborted,  // gt-route said so
    kLost,     // gt-route is silent or gone, or broke the protocol
  };
  Kind kind = Kind::kMessage;
  std::string why;
  Letter letter;
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

  // There is room again for so many bytes of lines (Letter::bytes). gt-route is
  // told with the next `done`, at once when it is much.
  void give_back(size_t bytes);
  // All instructions up to seq have run, and it waits for this, for so long, at
  // that instruction (wire.h, `done`). It is sent now, and again at every beat.
  void done(uint64_t seq, uint64_t wait_ms = 0, std::string_view waits_for = {},
            uint64_t waits_at = 0);
  // Whether gt-route wants to be told what ran; and telling it (ran.h).
  bool is_logged() const { return told_time_.told != 0; }
  void ran(std::string_view body);
  // Whether somebody watches; and what is then to be told of it (used.h).
  bool is_watched() const { return is_watched_; }
  void used(std::string_view body);
  void send(Frame frame);  // results, report
  // The last message; `why` it ended before its time, or "".
  void bye(Exit status, std::string_view why);

 private:
  enum class State : uint8_t { kConnecting, kHello, kAttached, kOver };
  // What came of connections before a welcome.
  struct Tries {
    bool was_refused = false;
    std::string untrusted;   // why what is there is not, if it is not
    bool was_there = false;  // a gt-route, which said no welcome
    std::string gave_up;     // and why, if it said that
  };
  // What a done says.
  struct Progress {
    uint64_t seq = 0;
    uint64_t taken = 0;  // bytes of lines
    uint64_t told = 0;   // of these
    uint64_t wait_ms = 0;
    uint64_t wait_at = 0;
    std::string waits_for;
  };

  void take(Letter letter);
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
  State state_ = State::kConnecting;
  Welcome welcome_;
  Joiner joiner_;
  std::deque<MemberEvent> events_;
  std::deque<Frame> outgoing_;
  int64_t sign_;  // of gt-route, until it welcomes us
  int64_t heard_;
  int64_t looked_;
  int64_t next_beat_;
  int64_t hello_at_ = 0;  // not 0: we were given up, and try again then
  int64_t back_off_ = 100;
  Tries tries_;
  Progress progress_;
  ToldTime told_time_;  // the best of the last minute
  int times_ = 0;       // since then
  bool is_watched_ = false;
};

}  // namespace gt::net
