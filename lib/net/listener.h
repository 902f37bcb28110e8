// The end of a connection that listens: a ROUTER socket, who may come to it,
// and who has gone. What is said over it is up to a ListenerState. For the loop
// of one thread:
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

// What is said to the peers of a listener, and what they may say. Knows no
// socket and no clock: time is passed in, in milliseconds, and what is to be
// sent is handed out. A peer is a connection, under the name that the socket
// has given it.
class ListenerState {
 public:
  struct Outgoing {
    std::string peer;
    Frame frame;
  };

  virtual ~ListenerState() = default;
  // Whether the connection has said a hello that was taken, and is not lost.
  virtual bool knows(const std::string& peer) const = 0;
  // Takes what the socket received. `key` is the public key that the peer has
  // proved to hold, where connections have keys.
  virtual void receive(const std::string& peer, Frame frame, int64_t now,
                       const std::string& key) = 0;
  // Tells a connection why it is not taken: `why` is what is known of its
  // other end.
  virtual void distrust(const std::string& peer, const std::string& why,
                        int64_t now) = 0;
  // The gatekeeper has turned somebody away: people are told.
  virtual void turned_away(const std::string& who, int64_t now) = 0;
  // The connection has ended, and all that it brought has been received.
  virtual void link_ended(const std::string& peer) = 0;
  // Its queue is full, or it is gone.
  virtual void undelivered(const std::string& peer) = 0;
  // Sends what time demands, and looks whose silence is too long. `all_read`:
  // nothing is left to be received; if something is, nobody is called silent.
  virtual void tick(int64_t now, bool all_read) = 0;
  virtual int64_t next_tick() const = 0;
  virtual bool next(Outgoing& out) = 0;
};

class Listener {
 public:
  // With keys (LinkOptions::keys) those alone may come whom `admits` takes
  // (gatekeeper.h); without them processes of the same user on this host,
  // unless LinkOptions::anyone. The state outlives the listener.
  Listener(Context& context, const LinkOptions& options,
           Gatekeeper::Admits admits, ListenerState& state);

  // Errors: as Socket::bind().
  Status bind(const std::string& endpoint);
  // Where it listens, with the port filled in.
  const std::string& endpoint() const { return endpoint_; }

  void add_to(Poller& poller) const;
  int64_t wait_ms() const;  // until step() has something to do, at most
  // Receives what is there, up to a bound, and sends what time demands.
  void step();
  // Sends what the state has to say.
  void flush();

  // Connections that were no ZeroMQ.
  uint64_t rejected() const { return links_.rejected(); }
  // Lets the last messages leave when the listener goes, for at most so long.
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
