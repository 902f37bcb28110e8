// Decides whose connections the listening sockets of a context take, where they
// have keys: ZeroMQ's authentication protocol (RFC 27). Without one, CURVE
// alone takes anybody who knows the listener's public key.
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

  // One a context, made before its sockets listen. Who comes before open()
  // waits.
  explicit Gatekeeper(Context& context);
  ~Gatekeeper();
  Gatekeeper(const Gatekeeper&) = delete;
  Gatekeeper& operator=(const Gatekeeper&) = delete;

  void open(Admits admits);  // once
  // Who was turned away: "KEY at ADDRESS"; of very many the first.
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
