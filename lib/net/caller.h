// Caller is the connecting end of a connection: a DEALER socket that retries
// until it is accepted, and that checks whose process listens there. A
// CallerState decides what is said over the connection. A Caller belongs to the
// loop of one thread, as a Listener does.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "net/poller.h"
#include "net/socket.h"

namespace gt::net {

// The protocol that the connecting end speaks. It uses no socket and no clock:
// it is passed the time, in milliseconds, and hands out what is to be sent.
class CallerState {
 public:
  virtual ~CallerState() = default;
  // Called when a connection was made, and when it has ended.
  virtual void link_up(int64_t now) = 0;
  virtual void link_down() = 0;
  // Called when a connection of ours was not accepted. `by_key` is true if our
  // key is not admitted, `for_good` if no connection of ours ever will be.
  virtual void link_refused(bool by_key, bool for_good) = 0;
  // Called when the connection leads to a process that must not be trusted, for
  // the reason `why`. `for_good` is true if it never can be.
  virtual void link_untrusted(const std::string& why, bool for_good) = 0;
  virtual void receive(Frame frame, int64_t now) = 0;
  // Sends the sign of life if it is due, and checks whether the other end was
  // silent for too long. `all_read` is that of ListenerState::tick().
  virtual void tick(int64_t now, bool all_read) = 0;
  virtual int64_t next_tick() const = 0;
  virtual bool next(Frame& out) = 0;
};

// A connection that is made and remade to one endpoint.
class Caller {
 public:
  // `state` must outlive the object.
  Caller(Context& context, const LinkOptions& options, CallerState& state)
      : dealer_(context, options), monitor_(context, dealer_), state_(state) {}

  // Begins to connect. Error: the endpoint is malformed.
  Status connect(const std::string& endpoint) {
    return dealer_.connect(endpoint);
  }

  void add_to(Poller& poller) const;
  // Calls f with each of its sockets, for a poller of another kind.
  template <typename F>
  void each_socket(F&& f) const {
    f(dealer_.raw());
    f(monitor_.raw());
  }
  int64_t wait_ms() const;
  void step();
  // Sends what the state hands out, now or as soon as possible.
  void flush();
  // True if the other end reads as fast as we write; if not, wait and call
  // step().
  bool can_send() const { return unsent_bytes_ < kMaxUnsent; }
  // Sets how long the destructor may wait for the last messages to be sent.
  void linger(int milliseconds) { dealer_.linger(milliseconds); }

 private:
  static constexpr size_t kMaxUnsent = size_t{4} << 20;

  void read_events();
  void take(const LinkEvent& event);
  void look_at_peer(bool is_up);
  bool has_new_link() const;
  void receive();
  void link_down();

  Dealer dealer_;
  LinkMonitor monitor_;
  CallerState& state_;
  std::deque<LinkEvent> events_;  // events read but not handled yet
  int fd_ = -1;                   // the connection's descriptor
  std::deque<Frame> unsent_;
  size_t unsent_bytes_ = 0;
  bool all_read_ = true;
};

}  // namespace gt::net
