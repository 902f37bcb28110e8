// The gatekeeper decides whose connections the listening sockets of a context
// accept, if they have keys (keys.h): libzmq asks it about each public key, by
// ZeroMQ's authentication protocol (RFC 27). Without a gatekeeper, CURVE
// accepts anybody who knows the listener's public key. A connection that is not
// admitted ends in its handshake, and nothing that it sends is read.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "net/poller.h"
#include "net/socket.h"

namespace gt::net {

class Gatekeeper {
 public:
  // True if the holder of a public key may connect. Called on the gatekeeper's
  // thread.
  using Admits = std::function<bool(const std::string& key)>;

  // A context has one gatekeeper, made before its sockets listen. Connections
  // made before open() wait for it.
  explicit Gatekeeper(Context& context);
  ~Gatekeeper();
  Gatekeeper(const Gatekeeper&) = delete;
  Gatekeeper& operator=(const Gatekeeper&) = delete;

  void open(Admits admits);  // once
  // Takes the next connection that was turned away, "KEY at ADDRESS". False if
  // there is none. At most kMostTold are kept.
  bool next_refused(std::string& who);

 private:
  static constexpr size_t kMostTold = 64;

  void loop();
  bool answer();
  void refuse(std::string who);

  void* door_;  // the socket at which libzmq asks
  Wake wake_;
  std::mutex mutex_;
  Admits admits_;  // empty until open(); then constant
  bool is_ending_ = false;
  std::deque<std::string> refused_;
  std::thread thread_;
};

}  // namespace gt::net
