// Listener is the listening end of connections: a ROUTER socket, with checks of
// who may connect and notice of who has gone. A ListenerState decides what is
// said over the connections. A Listener belongs to the loop of one thread:
//
//     listener.add_to(poller);
//     poller.wait(listener.wait_ms());
//     listener.step();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/gatekeeper.h"
#include "net/links.h"
#include "net/poller.h"
#include "net/socket.h"

namespace gt::net {

// The protocol that the listening end speaks. It uses no socket and no clock:
// it is passed the time, in milliseconds, and hands out what is to be sent. A
// peer is a connection, under the name that the socket has given it.
class ListenerState {
 public:
  struct Outgoing {
    std::string peer;
    Frame frame;
  };

  virtual ~ListenerState() = default;
  // True if the connection's hello was accepted and it is not lost.
  virtual bool knows(const std::string& peer) const = 0;
  // Handles a frame that was received. `key` is the public key that the peer
  // has proved to hold, if connections have keys.
  virtual void receive(const std::string& peer, Frame frame, int64_t now,
                       const std::string& key) = 0;
  // Refuses a connection; `why` is what is known about its other end.
  virtual void distrust(const std::string& peer, const std::string& why,
                        int64_t now) = 0;
  // Called when the gatekeeper has turned somebody away, for people to be told.
  virtual void turned_away(const std::string& who, int64_t now) = 0;
  // Called when the connection has ended and all its messages have been
  // received.
  virtual void link_ended(const std::string& peer) = 0;
  // Called when a frame could not be sent, since the peer's queue is full.
  virtual void undelivered(const std::string& peer) = 0;
  // Sends what is due at this time, and checks who was silent for too long.
  // `all_read` is true if nothing is left to be received; otherwise nobody
  // counts as silent.
  virtual void tick(int64_t now, bool all_read) = 0;
  virtual int64_t next_tick() const = 0;
  virtual bool next(Outgoing& out) = 0;
};

class Listener {
 public:
  // With keys (LinkOptions::trust), only those may connect whom `admits`
  // accepts (gatekeeper.h); without keys, only processes of the same user on
  // this host, unless Trust::anyone is set. `state` must outlive the listener.
  Listener(Context& context, const LinkOptions& options,
           Gatekeeper::Admits admits, ListenerState& state);

  // Errors: those of Socket::bind().
  Status bind(const std::string& endpoint);
  // Returns where it listens, with the actual port.
  const std::string& endpoint() const { return endpoint_; }

  void add_to(Poller& poller) const;
  int64_t wait_ms() const;  // the most ms until step() has something to do
  // Receives what is there, up to a limit, and sends what is due.
  void step();
  // Sends what the state hands out.
  void flush();

  // Returns how many connections did not speak ZeroMQ.
  uint64_t rejected() const { return links_.rejected(); }
  // Sets how long the destructor may wait for the last messages to be sent.
  void linger(int milliseconds) { router_.linger(milliseconds); }

 private:
  bool receive(size_t& bytes);
  bool admits(const Incoming& in);

  std::unique_ptr<Gatekeeper> gatekeeper_;  // with keys
  Router router_;
  Links links_;
  ListenerState& state_;
  std::string endpoint_;
  bool all_read_ = true;
};

}  // namespace gt::net
