// A member is a worker's end of its connection to gt-route: a MemberState on a
// DEALER socket. For the loop of one thread, as Host is.
#pragma once

#include <memory>
#include <string>

#include "net/member_state.h"
#include "net/poller.h"
#include "net/socket.h"

namespace gt::net {

class Member {
 public:
  // Begins to connect. Error: the endpoint is none, or a name is too long.
  static Result<std::unique_ptr<Member>> make(Context& context,
                                              const std::string& endpoint,
                                              MemberOptions options);

  void add_to(Poller& poller) const;
  void add_to(ManyPoller& poller, uint32_t key) const;
  int64_t wait_ms() const;
  void step();
  bool next(MemberEvent& event) { return state_.next(event); }

  const MemberState& state() const { return state_; }
  // As those of MemberState; what they say leaves at once, or as soon as it
  // can.
  void give_back(size_t bytes);
  void done(uint64_t seq, uint64_t wait_ms = 0, std::string_view waits_for = {},
            uint64_t waits_at = 0);
  void ran(std::string_view body);
  // Whether gt-route reads as fast as we write; if not, wait until step().
  bool can_send() const { return unsent_bytes_ < kMaxUnsent; }
  void send(Frame frame);  // results, report
  void bye(Exit status, std::string_view why);
  // To be called behind bye(): waits until gt-route has answered it, or so much
  // time is past. To close before the answer can lose what libzmq (4.3.4) has
  // not written yet, whatever ZMQ_LINGER says.
  void await_answer(int64_t milliseconds);
  // Lets the last messages leave when the member goes, for at most so long.
  void linger(int milliseconds) { dealer_.linger(milliseconds); }

 private:
  static constexpr size_t kMaxUnsent = size_t{4} << 20;

  Member(Context& context, MemberOptions options);
  void read_events();
  void take(const LinkEvent& event);
  void look_at_peer(bool is_up);
  bool has_new_link() const;
  void receive();
  void link_down();
  void flush();

  Dealer dealer_;
  LinkMonitor monitor_;
  std::deque<LinkEvent> events_;  // read and not taken
  int fd_ = -1;                   // of the connection
  MemberState state_;
  std::deque<Frame> unsent_;
  size_t unsent_bytes_ = 0;
  bool all_read_ = true;
};

}  // namespace gt::net
