// ZeroMQ sockets as gt uses them: never blocking, nothing lost in silence.
// A socket is used from one thread.
//
// What libzmq 4.3.4 does unless told otherwise, and what is set here: a ROUTER
// drops what a peer has no room for and what is for nobody (ROUTER_MANDATORY);
// a peer that says nothing holds its connection (HANDSHAKE_IVL); a closed
// context waits for ever (BLOCKY, LINGER); a DEALER keeps for the next
// connection what was for the last one (IMMEDIATE); a monitor that nobody reads
// stops all sockets (its RCVHWM). A stopped peer is never noticed: gt beats
// itself, since with ZMTP's heartbeats a connection that ends while its queue
// is full ends the process ("Assertion failed: !_io_error").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/frame.h"
#include "net/keys.h"

namespace gt::net {

// Raises the soft limit of open files to the hard one, and throws (see
// base/shortage.h) unless so many more can be had: where one is missing, libzmq
// ends the process, or waits for ever.
void need_descriptors(size_t count);

// The threads and memory of libzmq; there is one in a process.
class Context {
 public:
  explicit Context(int io_threads = 1);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();  // after all its sockets; waits while they linger
  void* raw() const { return context_; }

 private:
  void* context_;
};

struct LinkOptions {
  size_t max_message = 0;  // bytes of a frame that is taken; no default
  int send_queue = 1000;   // messages a peer; 0: unbounded
  int receive_queue = 64;  // messages a peer, bounds what strangers cost
  // Counts from the connection, which may wait to be accepted among thousands.
  int handshake_ms = 15000;
  int connect_ms = 3000;   // one try
  int reconnect_ms = 100;  // then twice that, up to ...
  int reconnect_most_ms = 2000;
  // If there are keys, connections are encrypted: where it listens, it takes
  // those that the context's Gatekeeper admits; where it connects, `server` is
  // the public key of the one that must be there.
  std::optional<Keys> keys;
  std::string server;
  // Without keys: whether anyone who can reach it may be at the other end. If
  // not, it takes local endpoints alone (endpoint.h), and its owner must ask to
  // whom each connection belongs (peer_user.h).
  bool anyone = false;
};

enum class Sent : uint8_t {
  kSent,
  kWouldBlock,   // try again when the socket is ready for output
  kUnknownPeer,  // never was, or is gone
};

class Socket {
 public:
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  // The endpoint as bound: the port that "tcp://127.0.0.1:*" was given.
  Result<std::string> bind(const std::string& endpoint);
  Status connect(const std::string& endpoint) {
    return connect(endpoint, server_);
  }
  // How long closing waits for what is not sent yet; 0 at first.
  void linger(int milliseconds);
  void* raw() const { return socket_; }
  // Whether processes of the same user alone may be at the other end.
  bool is_same_user() const { return !keys_ && !is_for_anyone_; }

 protected:
  Socket(Context& context, int type, const LinkOptions& options);
  void widen(const std::string& endpoint);
  void set(int option, int value);
  Status connect(const std::string& endpoint, const std::string& server);
  void set(int option, const std::string& value);
  bool receive_frame(Frame& frame);
  bool has_more() const;
  Sent send_frame(Frame& frame, bool more);

  void* socket_;
  std::string file_;  // of a local endpoint that has a name in the file system
  std::optional<Keys> keys_;

 private:
  std::string server_;
  bool is_for_anyone_;
};

// The most messages that are received in one step, so that a flood does not
// keep the loop from all else.
constexpr int kAtOnce = 1000;

// What a ROUTER received. `fd` is the descriptor of the connection, as in
// LinkEvent.
struct Incoming {
  static constexpr size_t kMaxParts = 2;
  std::string peer;
  Frame parts[kMaxParts];
  size_t count = 0;  // of parts as sent; those beyond kMaxParts are dropped
  int fd = -1;
  // Whether we gave the connection its name: one that names itself could take
  // the name of another that has gone.
  bool is_named_by_us = false;
  std::string key;  // of the one who connected, where the socket has keys
};

class Router : public Socket {
 public:
  Router(Context& context, const LinkOptions& options);
  // A connection of its own, to which `peer` is then the name. Messages may be
  // sent at once. `key` is its public key, where the socket has keys.
  Status connect_as(const std::string& peer, const std::string& endpoint,
                    const std::string& key = {});
  // Ends what connect_as() made, for good; what was not sent is dropped.
  void disconnect(const std::string& endpoint);
  Sent send(std::string_view peer, Frame frame);
  Sent send(std::string_view peer, Frame first, Frame second);
  bool receive(Incoming& in);  // false: nothing there

 private:
  Sent send_to(std::string_view peer);
};

class Dealer : public Socket {
 public:
  Dealer(Context& context, const LinkOptions& options);
  // kWouldBlock also while there is no connection.
  Sent send(Frame frame);
  bool receive(Frame& frame);  // false: nothing there; "" had many parts
};

// What happens to the connections of a socket. The event of a connection's end
// comes when all its messages are there to be received, and before its fd can
// be another's; that of its handshake comes before its first message is there.
struct LinkEvent {
  enum class Kind : uint8_t {
    kConnected,  // one that we made; its handshake is still to come
    kUp,         // a handshake is done
    kDown,
    kRejected,  // what came was no handshake
    kDenied,    // the other side does not admit our key
    kMismatch,  // one side has keys, or none of them speaks ZeroMQ
  };
  Kind kind = Kind::kUp;
  int fd = -1;           // of kConnected and kDown
  std::string endpoint;  // of kConnected: to which we connected
};

class LinkMonitor {
 public:
  LinkMonitor(Context& context, const Socket& socket);
  LinkMonitor(const LinkMonitor&) = delete;
  LinkMonitor& operator=(const LinkMonitor&) = delete;
  ~LinkMonitor();               // before the socket
  bool next(LinkEvent& event);  // false: nothing there
  void* raw() const { return pair_; }

 private:
  void* watched_;
  void* pair_;
};

}  // namespace gt::net
