// The host is gt-route's end of the connections to its workers: a HostState on
// a ROUTER socket. For the loop of one thread:
//
//     host.add_to(poller);
//     poller.wait(host.wait_ms());
//     host.step();
//     while (host.next(event)) ...
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "net/gatekeeper.h"
#include "net/host_state.h"
#include "net/links.h"
#include "net/poller.h"
#include "net/socket.h"

namespace gt::net {

class Host {
 public:
  // Listens at the endpoint; local_endpoint() for workers on this host. With
  // keys, those alone may come whom `admits` takes (gatekeeper.h); without them
  // processes of the same user on this host, unless HostOptions::anyone.
  static Result<std::unique_ptr<Host>> make(Context& context,
                                            const std::string& endpoint,
                                            HostOptions options,
                                            std::optional<Keys> keys = {},
                                            Gatekeeper::Admits admits = {});
  // The endpoint that workers connect to, with the port filled in.
  const std::string& endpoint() const { return endpoint_; }

  void add_to(Poller& poller) const;
  int64_t wait_ms() const;  // until step() has something to do, at most
  // Receives what is there, up to a bound, and sends what time demands.
  void step();
  bool next(HostEvent& event) { return state_.next(event); }

  // As those of HostState; what send(), abort() and drop() take leaves at once.
  bool can_send(uint32_t worker, size_t bytes) const {
    return state_.can_send(worker, bytes);
  }
  void send(uint32_t worker, const Frame& frame);
  void abort(std::string_view why);
  void drop(uint32_t worker, std::string_view why);

  // Sends beats that are due, and does nothing else.
  void beat();

  const HostState& state() const { return state_; }
  // Connections that were no ZeroMQ.
  uint64_t rejected() const { return links_.rejected(); }
  // Lets the last messages leave when the host goes, for at most so long.
  void linger(int milliseconds) { router_.linger(milliseconds); }

 private:
  Host(Context& context, HostOptions options, std::optional<Keys> keys,
       Gatekeeper::Admits admits);
  bool receive(size_t& bytes);
  bool admits(const Incoming& in);
  void flush();

  std::unique_ptr<Gatekeeper> gatekeeper_;  // with keys
  Router router_;
  Links links_;
  HostState state_;
  std::string endpoint_;
  bool all_read_ = true;
};

// While there is one, a thread of its own beats for a host whose thread is at
// something long, and leaves the host alone until the pulse ends.
class Pulse {
 public:
  explicit Pulse(Host& host);

 private:
  std::jthread thread_;
};

}  // namespace gt::net
