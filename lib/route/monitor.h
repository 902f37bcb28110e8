// The endpoint of gt-route at which the run is watched: who watches, and when
// they are told how it is. There is one state for all who wait for one, at most
// ten a second, and making them takes at most a hundredth of the time; so a run
// of thousands of workers is told of less often.
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

  // Listens, if it is on. Error: an endpoint that was named does not allow it;
  // a private one that cannot be had is done without.
  Status begin();

  // Where it listens, with the port filled in; "" if it does not.
  std::string endpoint() const {
    return listener_ == nullptr ? "" : listener_->endpoint();
  }

  void add_to(net::Poller& poller) const;
  int64_t wait_ms() const;  // until step() or tell() has something to do
  // Takes what those who watch say.
  void step();
  size_t watchers() const { return watchers_.size(); }
  // Whether a state is asked for, and may be told now.
  bool is_due() const;
  // Tells them what `make` gives, see state_text.h.
  void tell(const std::function<std::string()>& make);
  // Tells them the last state and how the run ended, and waits for 0.5 s at
  // most until they have heard it, and gone: who closes first can lose what is
  // not written yet.
  void end(const std::string& state, Exit status);

 private:
  const MonitorOptions& options_;
  // Its own, since a context has one gatekeeper.
  std::unique_ptr<net::Context> context_;
  net::Watchers watchers_;
  std::unique_ptr<net::Listener> listener_;
  int64_t next_ = 0;  // when the next state may be told
};

}  // namespace gt::route
