// ZeroMQ sockets as gt uses them: they never block, and lose nothing silently.
// A socket is used from one thread.
//
// Some defaults of libzmq 4.3.4 do not suit gt, so these options are set: a
// ROUTER drops messages for a full or unknown peer (ROUTER_MANDATORY); a silent
// peer holds its connection (HANDSHAKE_IVL); closing a context waits for ever
// (BLOCKY, LINGER); a DEALER keeps messages of an ended connection for the next
// one (IMMEDIATE); a monitor that nobody reads stops all sockets (its RCVHWM).
// A peer that is stopped is never noticed, so gt sends beats of its own: with
// ZMTP's heartbeats, a connection that ends while its queue is full ends the
// process ("Assertion failed: !_io_error").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/descriptors.h"
#include "net/frame.h"
#include "net/keys.h"

namespace gt::net {

// The threads and memory of libzmq. A process has one context.
class Context {
 public:
  explicit Context(int io_threads = 1);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();  // must come after all its sockets; waits while they linger
  void* raw() const { return context_; }

 private:
  void* context_;
};

// Options of a socket and its connections.
struct LinkOptions {
  size_t max_message = 0;  // most bytes of a received frame; must be set
  int send_queue = 1000;   // messages per peer; 0: unbounded
  int receive_queue = 64;  // messages per peer; bounds what strangers cost
  // Starts with the connection, which may wait among thousands to be accepted.
  int handshake_ms = 15000;
  int connect_ms = 3000;   // for one try
  int reconnect_ms = 100;  // doubled after each try, up to the next
  int reconnect_most_ms = 2000;
  Trust trust;
};

// The outcome of sending a message.
enum class Sent : uint8_t {
  kSent,
  kWouldBlock,   // try again when the socket is ready for output
  kUnknownPeer,  // the peer is gone or never existed
};

// The base of both kinds of sockets.
class Socket {
 public:
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  // Binds, and returns the endpoint with its actual port, for
  // "tcp://127.0.0.1:*". Errors: the endpoint is malformed or in use, or others
  // than processes of this host could connect and there are no keys.
  Result<std::string> bind(const std::string& endpoint);
  Status connect(const std::string& endpoint) {
    return connect(endpoint, trust_.other_key);
  }
  // Sets how long closing waits for unsent messages; 0 by default.
  void linger(int milliseconds);
  void* raw() const { return socket_; }
  // True if only processes of the same user may be at the other end.
  bool is_same_user() const { return trust_.is_same_user_only(); }

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
  std::string file_;  // the file of a bound Unix socket, or ""
  Trust trust_;
};

// The most messages received in one step, so that a flood of them does not keep
// the loop from other work.
constexpr int kAtOnce = 1000;

// A message that a ROUTER received. `fd` is the connection's descriptor, as in
// LinkEvent.
struct Incoming {
  static constexpr size_t kMaxParts = 2;
  std::string peer;
  Frame parts[kMaxParts];
  size_t count = 0;  // parts that were sent; those beyond kMaxParts are dropped
  int fd = -1;
  // True if we gave the connection its name. A connection that names itself
  // could take the name of another that has gone.
  bool is_named_by_us = false;
  std::string key;  // public key of the peer, if the socket has keys
};

// A socket with many connections, each of which has a name.
class Router : public Socket {
 public:
  Router(Context& context, const LinkOptions& options);
  // Makes a connection with the name `peer`. Messages may be sent at once.
  // `key` is the other end's public key, if the socket has keys.
  Status connect_as(const std::string& peer, const std::string& endpoint,
                    const std::string& key = {});
  // Ends a connection that connect_as() made, for good; unsent messages are
  // dropped.
  void disconnect(const std::string& endpoint);
  Sent send(std::string_view peer, Frame frame);
  Sent send(std::string_view peer, Frame first, Frame second);
  bool receive(Incoming& in);  // false: nothing there

 private:
  Sent send_to(std::string_view peer);
};

// A socket with one connection.
class Dealer : public Socket {
 public:
  Dealer(Context& context, const LinkOptions& options);
  // Returns kWouldBlock also while there is no connection.
  Sent send(Frame frame);
  // False if there is no message. A message of several parts becomes "".
  bool receive(Frame& frame);
};

// Something that happened to a connection of a socket. The event of a
// connection's end comes when all its messages can be received, and before its
// fd can be another's. The event of its handshake comes before its first
// message.
struct LinkEvent {
  enum class Kind : uint8_t {
    kConnected,  // we connected; the handshake is still to come
    kUp,         // a handshake is done
    kDown,
    kRejected,  // the other end sent no valid handshake
    kDenied,    // the other side does not admit our key
    kMismatch,  // only one side has keys, or the other does not speak ZeroMQ
  };
  Kind kind = Kind::kUp;
  int fd = -1;           // for kConnected and kDown
  std::string endpoint;  // for kConnected: where we connected to
};

// Reads the events of a socket's connections.
class LinkMonitor {
 public:
  LinkMonitor(Context& context, const Socket& socket);
  LinkMonitor(const LinkMonitor&) = delete;
  LinkMonitor& operator=(const LinkMonitor&) = delete;
  ~LinkMonitor();               // must come before the socket's destructor
  bool next(LinkEvent& event);  // false: nothing there
  void* raw() const { return pair_; }

 private:
  void* watched_;
  void* pair_;
};

}  // namespace gt::net
