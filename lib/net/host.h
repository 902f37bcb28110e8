// The host is gt-route's end of the connections to its workers: a HostState on
// a Listener.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/host_state.h"
#include "net/listener.h"

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
  const std::string& endpoint() const { return listener_.endpoint(); }

  void add_to(Poller& poller) const { listener_.add_to(poller); }
  int64_t wait_ms() const { return listener_.wait_ms(); }
  void step() { listener_.step(); }
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
  uint64_t rejected() const { return listener_.rejected(); }
  // Lets the last messages leave when the host goes, for at most so long.
  void linger(int milliseconds) { listener_.linger(milliseconds); }

 private:
  Host(Context& context, HostOptions options, std::optional<Keys> keys,
       Gatekeeper::Admits admits);

  HostState state_;
  Listener listener_;
};

}  // namespace gt::net
