// The end of a connection that connects: a DEALER socket that tries until it is
// taken, and whose it is that listens there. What is said over it is up to a
// CallerState. For the loop of one thread, as Listener is.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "net/poller.h"
#include "net/socket.h"

namespace gt::net {

// What is said to the process that listens, and what it may say. Knows no
// socket and no clock: time is passed in, in milliseconds, and what is to be
// sent is handed out.
class CallerState {
 public:
  virtual ~CallerState() = default;
  // A connection is made, or has ended.
  virtual void link_up(int64_t now) = 0;
  virtual void link_down() = 0;
  // A connection of ours was not taken: `by_key`, since our key is not
  // admitted; `for_good`, since none of ours ever will be.
  virtual void link_refused(bool by_key, bool for_good) = 0;
  // The connection leads to a process that is not to be trusted; `for_good`: to
  // one that it never will be.
  virtual void link_untrusted(const std::string& why, bool for_good) = 0;
  virtual void receive(Frame frame, int64_t now) = 0;
  // Sends the sign of life that is due, and looks whether the other end is
  // silent for too long. `all_read`: as ListenerState::tick().
  virtual void tick(int64_t now, bool all_read) = 0;
  virtual int64_t next_tick() const = 0;
  virtual bool next(Frame& out) = 0;
};

class Caller {
 public:
  // The state outlives it.
  Caller(Context& context, const LinkOptions& options, CallerState& state)
      : dealer_(context, options), monitor_(context, dealer_), state_(state) {}

  // Begins to connect. Error: the endpoint is none.
  Status connect(const std::string& endpoint) {
    return dealer_.connect(endpoint);
  }

  void add_to(Poller& poller) const;
  void add_to(ManyPoller& poller, uint32_t key) const;
  int64_t wait_ms() const;
  void step();
  // Sends what the state has to say, now or as soon as it can.
  void flush();
  // Whether the other end reads as fast as we write; if not, wait until step().
  bool can_send() const { return unsent_bytes_ < kMaxUnsent; }
  bool has_sent_all() const { return unsent_.empty(); }
  // Lets the last messages leave when the caller goes, for at most so long.
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
  std::deque<LinkEvent> events_;  // read and not taken
  int fd_ = -1;                   // of the connection
  std::deque<Frame> unsent_;
  size_t unsent_bytes_ = 0;
  bool all_read_ = true;
};

}  // namespace gt::net
