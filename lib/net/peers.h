// Peers are the connections between the workers of a session, for the bytes of
// tensors and messages about them. They are all made after `welcome`, never in
// the middle of a step. Used from one thread, which sleeps in a Poller on
// pollable() and monitor().
//
// Each worker binds one endpoint and connects to that of every other: what it
// sends goes over the connection that it made, what it receives comes over
// theirs. A connection begins with a message of the form in wire.h, "hello
// worker= session=", with the session word that gt-route told all workers; the
// other answers "welcome" over its own connection. After that, a message has
// two frames: a header in text, and a body of any bytes (exec/comm/message.h
// defines both).
//
// A connection without such a hello is a stranger: its messages are counted and
// dropped. With keys, only the workers that connect() names can connect at all.
// Without keys, a hello is only said to processes of the same user, unless
// anyone is allowed. A connection is not made twice: if one breaks, its worker
// is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// The most bytes of a message's body.
inline constexpr size_t kMaxPeerBody = size_t{1} << 20;

// How to reach another worker.
struct PeerAddress {
  uint32_t worker = 0;
  std::string endpoint;
  std::string key;  // its public key, if connections have keys
};

// A message from another worker, or its loss.
struct PeerEvent {
  // kLost: `worker` is gone, and all its messages were received; `header` says
  // why.
  enum class Kind : uint8_t { kMessage, kLost };
  Kind kind = Kind::kMessage;
  uint32_t worker = 0;
  std::string header;
  Frame body;
};

class Peers {
 public:
  // Binds an endpoint for peers. `near` is the endpoint by which the worker
  // reaches gt-route: peers use a Unix socket if they are on this host and of
  // one user, else tcp at the address from which the worker reaches gt-route.
  // With keys, only the workers that connect() names may connect, by the public
  // keys that it states; without, only processes of the same user on this host,
  // unless Trust::anyone is set.
  static Result<std::unique_ptr<Peers>> make(Context& context,
                                             const std::string& near,
                                             const Trust& trust = {});
  // Returns our own endpoint, which gt-route tells the others (data= of the
  // hello).
  const std::string& endpoint() const { return endpoint_; }

  // Begins to connect; may be called once. `others` are all workers except
  // `self`. Messages may be sent once ready() is true.
  Status connect(uint32_t self, const std::string& session,
                 const std::vector<PeerAddress>& others);
  // True if every other worker is connected, both ways. Calls of receive() make
  // progress with this.
  bool ready() const { return is_connected_ && pending_ == 0; }
  // Returns the workers for which ready() waits.
  std::vector<uint32_t> missing() const;

  // Sends a header (text, at most kMaxHeader bytes) and a body that is not
  // copied: its bytes must not change until `keep` is released, which happens
  // on a thread of ZeroMQ. Never waits: what a peer does not read yet is queued
  // without limit, so the protocol above must bound it. False if the worker is
  // lost.
  bool send(uint32_t worker, std::string_view header,
            const void* body = nullptr, size_t bytes = 0,
            std::shared_ptr<const void> keep = nullptr);
  // Takes the next event; false if there is none now.
  bool receive(PeerEvent& message);

  // Both sockets become readable when receive() may have something, but not
  // before connect().
  void* pollable() const { return router_.raw(); }
  void* monitor() const { return links_.raw(); }
  uint64_t strangers() const { return strangers_; }  // messages dropped

 private:
  struct Peer {
    bool is_known = false;    // its hello has come, over `id`
    bool is_greeted = false;  // our hello was said, so we may answer its hello
    bool has_answered = false;  // it has answered our hello
    bool is_lost = false;
    std::string id;
    std::string endpoint;
  };

  Peers(Context& context, const Trust& trust);
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

  std::unique_ptr<Gatekeeper> gatekeeper_;  // only with keys
  Router router_;
  Links links_;
  std::string endpoint_;
  bool is_connected_ = false;
  uint32_t self_ = 0;
  std::string session_;
  // A random prefix of the names of our connections. A stranger who knew a name
  // could take it, and libzmq ends a process that gives a name twice.
  const std::string link_prefix_;
  size_t pending_ = 0;
  uint64_t strangers_ = 0;
  std::unordered_map<uint32_t, Peer> peers_;
  // Workers by the id of their incoming connection.
  std::unordered_map<std::string, uint32_t> workers_;
};

}  // namespace gt::net
