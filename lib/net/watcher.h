// Watcher is the end of somebody who watches a gt-route (watchers.h): it asks
// for states, and hands over what comes. It changes nothing there.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/exit.h"
#include "base/take_front.h"
#include "net/caller.h"
#include "net/joiner.h"
#include "net/keys.h"
#include "net/refusal.h"

namespace gt::net {

// Something that a watcher hands over.
struct WatchEvent {
  enum class Kind : uint8_t {
    kState,  // `text` is its records
    kEnded,  // the run has ended, with `status`
    // It is over, and `text` says why, for people.
    kRefused,  // we are not accepted
    kLost,     // there is no gt-route, it is gone, or breaks the protocol
  };
  Kind kind = Kind::kState;
  std::string text;
  Exit status = Exit::kDone;
};

// Which gt-route to watch, and how to connect to it.
struct WatcherOptions {
  std::string endpoint;  // the monitor's
  Trust trust;
  int64_t connect_limit = 5000;  // ms until the first state
};

// A watcher's side of the protocol.
class WatcherState final : public CallerState {
 public:
  WatcherState(WatcherOptions options, int64_t now);

  // Asks for the next state, unless one is asked for already.
  void ask();
  // Returns when gt-route was last heard, or else when this was made, in ms.
  int64_t heard() const { return heard_; }
  bool next(WatchEvent& event) { return take_front(events_, event); }

  void link_up(int64_t now) override;
  void link_down() override;
  void link_refused(bool by_key, bool for_good) override;
  void link_untrusted(const std::string& why, bool for_good) override;
  void receive(Frame frame, int64_t now) override;
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override;
  bool next(Frame& out) override { return take_front(outgoing_, out); }

 private:
  void take(const Message& message);
  void take_refusal(std::string why);
  void finish(WatchEvent::Kind kind, std::string text,
              Exit status = Exit::kDone);
  void say_watch();

  WatcherOptions options_;
  const Callee callee_;
  Joiner joiner_;
  std::deque<WatchEvent> events_;
  std::deque<Frame> outgoing_;
  int64_t heard_;
  bool is_linked_ = false;
  bool asks_ = true;         // a state is asked for, or will be once connected
  bool was_told_ = false;    // a state has come
  bool is_refused_ = false;  // the last message was a refusal
  bool is_over_ = false;
  std::string tried_;  // why earlier connections failed
};

// A WatcherState on a Caller.
class Watcher {
 public:
  // Begins to connect. Error: the endpoint is malformed.
  static Result<std::unique_ptr<Watcher>> make(Context& context,
                                               const WatcherOptions& options);

  void add_to(Poller& poller) const { caller_.add_to(poller); }
  int64_t wait_ms() const { return caller_.wait_ms(); }
  void step() { caller_.step(); }
  // These are the functions of WatcherState.
  void ask();
  int64_t heard() const { return state_.heard(); }
  bool next(WatchEvent& event) { return state_.next(event); }

 private:
  Watcher(Context& context, const WatcherOptions& options);

  WatcherState state_;
  Caller caller_;
};

}  // namespace gt::net
