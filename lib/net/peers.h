// The connections between the workers of a session, for tensor bytes and what
// is said about them. Made all at once after `welcome`, never in the middle of
// a step. Used from one thread, which sleeps in a Poller on pollable() and
// monitor().
//
// Each worker binds one endpoint and connects to that of every other: what it
// sends goes over its own connection, what it gets comes over theirs. A
// connection begins with a message as in wire.h, "hello worker= session=", with
// the session's word that gt-route told all workers; the other answers
// "welcome" on its own. Then a message has two frames: a header in text and a
// body of any bytes (exec/comm/message.h says which).
//
// Whoever has not said such a hello is a stranger: what it sends is counted and
// dropped. With keys, only those that connect() names may connect at all.
// Without, a hello is said to processes of the same user alone, unless anyone
// may come. A connection is not made twice: if one breaks, its worker is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "net/frame.h"
#include "net/gatekeeper.h"
#include "net/links.h"
#include "net/socket.h"

namespace gt::net {

inline constexpr size_t kMaxPeerBody = size_t{1} << 20;  // bytes a message

struct PeerAddress {
  uint32_t worker = 0;
  std::string endpoint;
  std::string key;  // public, where connections have keys
};

struct PeerEvent {
  // kLost: `worker` is gone, and all its messages have been received; `header`
  // says how.
  enum class Kind : uint8_t { kMessage, kLost };
  Kind kind = Kind::kMessage;
  uint32_t worker = 0;
  std::string header;
  Frame body;
};

class Peers {
 public:
  // Binds. `near` is the endpoint by which the worker reaches gt-route: peers
  // reach it by a Unix socket if they are on this host and of one user, else
  // over tcp at the address from which it reaches gt-route. With keys, they
  // alone may come whom connect() names; without, those of the same user on
  // this host, or `anyone`.
  static Result<std::unique_ptr<Peers>> make(Context& context,
                                             const std::string& near,
                                             std::optional<Keys> keys = {},
                                             bool anyone = false);
  // Our own endpoint, which gt-route tells the others (data= of the hello).
  const std::string& endpoint() const { return endpoint_; }

  // Begins to connect, once; `others` are all workers but `self`. Messages may
  // be sent once ready() says so.
  Status connect(uint32_t self, const std::string& session,
                 const std::vector<PeerAddress>& others);
  // Whether every other worker is connected, both ways. Goes on in receive().
  bool ready() const { return is_connected_ && pending_ == 0; }
  // The workers that ready() waits for.
  std::vector<uint32_t> missing() const;

  // Sends a header (text, at most kMaxHeader bytes) and a body that is not
  // copied: its bytes stay unchanged until `keep` is let go, which happens on a
  // thread of ZeroMQ's. Never waits: what a peer does not read yet is queued
  // without limit, so the protocol above bounds it. False: the worker is lost.
  bool send(uint32_t worker, std::string_view header,
            const void* body = nullptr, size_t bytes = 0,
            std::shared_ptr<const void> keep = nullptr);
  // The next message; false when nothing is there now.
  bool receive(PeerEvent& message);

  // Ready for input when receive() may have something; so is the monitor. Not
  // before connect(), when nothing is received.
  void* pollable() const { return router_.raw(); }
  void* monitor() const { return links_.raw(); }
  uint64_t strangers() const { return strangers_; }  // messages dropped

 private:
  struct Peer {
    bool is_known = false;      // its hello came, over `id`
    bool is_greeted = false;    // ours was said, so that it may be answered
    bool has_answered = false;  // it got ours
    bool is_lost = false;
    std::string id;
    std::string endpoint;
  };

  Peers(Context& context, std::optional<Keys> keys, bool anyone);
  std::string name_of_link(uint32_t worker) const;
  void say_hello(uint32_t worker);
  void answer(uint32_t worker);
  bool greet(PeerEvent& message);
  bool lose(uint32_t worker, std::string why, PeerEvent& message);
  bool take(Incoming& in, PeerEvent& message);
  void take_control(Incoming& in);
  void take_hello(const Incoming& in, uint32_t worker);
  void count_pending();
  bool next_lost(PeerEvent& message);

  std::unique_ptr<Gatekeeper> gatekeeper_;  // with keys
  Router router_;
  Links links_;
  std::string endpoint_;
  bool is_connected_ = false;
  uint32_t self_ = 0;
  std::string session_;
  // Begins the names of our connections: a stranger who knew them could take
  // one, and libzmq ends a process that gives a name twice.
  const std::string link_prefix_;
  size_t pending_ = 0;
  uint64_t strangers_ = 0;
  std::unordered_map<uint32_t, Peer> peers_;
  std::unordered_map<std::string, uint32_t> workers_;  // by incoming id
};

}  // namespace gt::net
