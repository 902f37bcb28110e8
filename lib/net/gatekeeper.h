// Decides whose connections the listening sockets of a context take, where they
// have keys (keys.h): libzmq asks it about each public key, by ZeroMQ's
// authentication protocol (RFC 27). Without a gatekeeper, CURVE alone takes
// anybody who knows the listener's public key. A connection that is not
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
  // Whether the holder of a public key may come; called from a thread of the
  // gatekeeper's.
  using Admits = std::function<bool(const std::string& key)>;

  // There is one for a context, made before its sockets listen. Connections
  // that are made before open() wait for it.
  explicit Gatekeeper(Context& context);
  ~Gatekeeper();
  Gatekeeper(const Gatekeeper&) = delete;
  Gatekeeper& operator=(const Gatekeeper&) = delete;

  void open(Admits admits);  // once
  // The next that was turned away, "KEY at ADDRESS"; of very many only the
  // first are kept. False: none.
  bool next_refused(std::string& who);

 private:
  static constexpr size_t kMostTold = 64;

  void loop();
  bool answer();
  void refuse(std::string who);

  void* door_;  // where libzmq asks
  Wake wake_;
  std::mutex mutex_;
  Admits admits_;  // empty: not open; then it stays
  bool is_ending_ = false;
  std::deque<std::string> refused_;
  std::thread thread_;
};

}  // namespace gt::net
