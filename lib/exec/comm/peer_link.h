// PeerLink is the Link over sockets. net/peers.h connects the workers.
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
  // Takes over `peers`, which nobody else may use any more, and connects it at
  // the first call from the link's thread. `others` are all workers except
  // `self`.
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
  std::deque<Unsent> unsent_;  // messages kept until all workers are connected
  net::Wake wake_;
  net::Poller poller_;
};

}  // namespace gt::exec::comm
