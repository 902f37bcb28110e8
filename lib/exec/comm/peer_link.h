// The Link over sockets: net/peers.h connects the workers.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "exec/comm/link.h"
#include "net/peers.h"
#include "net/poller.h"

namespace gt::exec::comm {

class PeerLink final : public Link {
 public:
  // Connects `peers`, which is this link's alone from now on, once its thread
  // first calls. `others` are all workers but `self`.
  PeerLink(net::Peers& peers, unsigned self, std::string session,
           std::vector<net::PeerAddress> others);

  Status send(unsigned worker, std::string message) override;
  bool receive(Incoming& message, std::chrono::milliseconds most) override;
  void wake() override { wake_.signal(); }

 private:
  struct Unsent {
    unsigned worker;
    std::string message;
  };
  void connect();
  void send_unsent();
  Status send_now(unsigned worker, std::string message);
  bool next(Incoming& message);

  net::Peers& peers_;
  unsigned self_;
  std::string session_;
  std::vector<net::PeerAddress> others_;
  bool is_connecting_ = false;
  Status connected_ = ok_status();
  std::deque<Unsent> unsent_;  // until all are connected
  net::Wake wake_;
  net::Poller poller_;
};

}  // namespace gt::exec::comm
