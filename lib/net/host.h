// Host is gt-route's end of the connections to its workers: a HostState on a
// Listener.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/host_state.h"
#include "net/listener.h"

namespace gt::net {

class Host {
 public:
  // Listens at the endpoint; local_endpoint() serves workers on this host. With
  // keys, only those may connect whom `admits` accepts (gatekeeper.h); without
  // keys, only processes of the same user on this host, unless Trust::anyone is
  // set.
  static Result<std::unique_ptr<Host>> make(Context& context,
                                            const std::string& endpoint,
                                            HostOptions options,
                                            Trust trust = {},
                                            Gatekeeper::Admits admits = {});
  // Returns the endpoint that workers connect to, with its actual port.
  const std::string& endpoint() const { return listener_.endpoint(); }

  void add_to(Poller& poller) const { listener_.add_to(poller); }
  int64_t wait_ms() const { return listener_.wait_ms(); }
  void step() { listener_.step(); }
  bool next(HostEvent& event) { return state_.next(event); }

  // These are the functions of HostState; send(), abort() and drop() also send
  // at once.
  bool can_send(uint32_t worker, size_t bytes) const {
    return state_.can_send(worker, bytes);
  }
  void send(uint32_t worker, const Frame& frame);
  void abort(std::string_view why);
  void drop(uint32_t worker, std::string_view why);

  // Sends the beats that are due, and does nothing else.
  void beat();

  const HostState& state() const { return state_; }
  // Returns how many connections did not speak ZeroMQ.
  uint64_t rejected() const { return listener_.rejected(); }
  // Sets how long the destructor may wait for the last messages to be sent.
  void linger(int milliseconds) { listener_.linger(milliseconds); }

 private:
  Host(Context& context, HostOptions options, Trust trust,
       Gatekeeper::Admits admits);

  HostState state_;
  Listener listener_;
};

}  // namespace gt::net
