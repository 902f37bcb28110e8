// Member is a worker's end of its connection to gt-route: a MemberState on a
// Caller.
#pragma once

#include <memory>
#include <string>

#include "net/caller.h"
#include "net/member_state.h"

namespace gt::net {

class Member {
 public:
  // Begins to connect. Errors: the endpoint is malformed, or a name is too long
  // or missing.
  static Result<std::unique_ptr<Member>> make(Context& context,
                                              const std::string& endpoint,
                                              MemberOptions options);

  void add_to(Poller& poller) const { caller_.add_to(poller); }
  template <typename F>
  void each_socket(F&& f) const {
    caller_.each_socket(f);
  }
  int64_t wait_ms() const { return caller_.wait_ms(); }
  void step() { caller_.step(); }
  bool next(MemberEvent& event) { return state_.next(event); }

  const MemberState& state() const { return state_; }
  // These are the functions of MemberState; they also send, at once or as soon
  // as possible.
  void give_back(size_t bytes);
  void done(uint64_t seq, uint64_t wait_ms = 0, std::string_view waits_for = {},
            uint64_t waits_at = 0);
  void ran(std::string_view body);
  void used(std::string_view body);
  // True if gt-route reads as fast as we write; if not, wait and call step().
  bool can_send() const { return caller_.can_send(); }
  void send(Frame frame);  // results, report
  void bye(Exit status, std::string_view why);
  // Must be called after bye(): waits until gt-route has answered it, for at
  // most so long. Closing before the answer can lose what libzmq (4.3.4) has
  // not written yet, whatever ZMQ_LINGER says.
  void await_answer(int64_t milliseconds);
  // Sets how long the destructor may wait for the last messages to be sent.
  void linger(int milliseconds) { caller_.linger(milliseconds); }

 private:
  Member(Context& context, const MemberOptions& options);

  MemberState state_;
  Caller caller_;
};

}  // namespace gt::net
