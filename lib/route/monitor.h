// Monitor: the endpoint of gt-route at which the run is watched: who watches,
// and when they are sent its state. There is one state for all who wait for
// one, at most ten in a second, and making the states takes at most a hundredth
// of the time; so the states of a run with thousands of workers come less
// often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/listener.h"
#include "net/poller.h"
#include "net/watchers.h"
#include "route/router.h"

namespace gt::route {

class Monitor {
 public:
  static constexpr int64_t kApart = 100;  // milliseconds between states

  // The options outlive it.
  explicit Monitor(const MonitorOptions& options) : options_(options) {}

  // Listens, if monitoring is on. Error: it cannot listen at an endpoint that
  // was named; if a private one cannot be had, the run goes on without it.
  Status begin();

  // Returns the endpoint at which it listens, with the port filled in; "" if it
  // does not.
  std::string endpoint() const {
    return listener_ == nullptr ? "" : listener_->endpoint();
  }

  void add_to(net::Poller& poller) const;
  int64_t wait_ms() const;  // until step() or tell() has something to do
  // Takes the messages of those who watch.
  void step();
  size_t watchers() const { return watchers_.size(); }
  // True if a state is asked for, and may be sent now.
  bool is_due() const;
  // Sends the state that make() returns, see state_text.h, to those who asked.
  void tell(const std::function<std::string()>& make);
  // Sends the last state and how the run ended, and waits at most 0.5 s until
  // all who watch have received it and left: the side that closes first can
  // lose what is not written yet.
  void end(const std::string& state, Exit status);

 private:
  const MonitorOptions& options_;
  // Separate from the workers' context, since a context has one gatekeeper.
  std::unique_ptr<net::Context> context_;
  net::Watchers watchers_;
  std::unique_ptr<net::Listener> listener_;
  int64_t next_ = 0;  // when the next state may be told
};

}  // namespace gt::route
