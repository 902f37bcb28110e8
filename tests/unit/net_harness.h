// A host and its members on real sockets, in one loop.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/endpoint.h"
#include "net/host.h"
#include "net/member.h"

namespace gt::net {

// libzmq is not built for the thread sanitizer, so each word that comes through
// it costs milliseconds for a report that is suppressed.
#ifdef __SANITIZE_THREAD__
#define GT_SKIP_BULK() GTEST_SKIP() << "too many bytes through libzmq"
#else
#define GT_SKIP_BULK() static_cast<void>(0)
#endif

class NetHarness {
 public:
  static constexpr int64_t kPatience = 60000;  // ms on a slow machine

  NetHarness(uint32_t workers, const std::string& endpoint,
             int64_t handshake = 15000) {
    HostOptions options;
    options.timing.handshake = handshake;
    options.workers = workers;
    options.table = "T";
    options.token = "t";
    options.session = "S";
    // A loaded machine, or one with a sanitizer, must not count as dead.
    options.timing.suspect = options.timing.lost = kPatience;
    host_ = std::move(Host::make(context_, endpoint, options).value());
  }

  MemberOptions options(const std::string& name) const {
    MemberOptions options;
    options.info.name = name;
    options.info.host = "h";
    options.info.pid = 1;
    options.table = "T";
    options.token = "t";
    options.timing.suspect = options.timing.lost = kPatience;
    return options;
  }
  Member& join(const std::string& name) { return join(options(name)); }
  Member& join(const MemberOptions& options) {
    auto made = Member::make(members_context_, host_->endpoint(), options);
    GT_CHECK(made.ok());
    members_.push_back(std::move(made.value()));
    return *members_.back();
  }

  // Takes turns until `done`; false if that takes too long. Events are kept.
  bool run(const std::function<bool()>& done) {
    const int64_t end = now_ms() + kPatience;
    while (!done()) {
      if (now_ms() > end) return false;
      turn(20);
    }
    return true;
  }
  void turn(int64_t limit_ms) {
    Poller poller;
    host_->add_to(poller);
    for (const auto& member : members_) member->add_to(poller);
    poller.wait(limit_ms);
    host_->step();
    HostEvent event;
    while (host_->next(event)) host_events_.push_back(std::move(event));
    for (const auto& member : members_) member->step();
  }
  bool run_until_attached() {
    return run([this] {
      for (const auto& member : members_) {
        if (!member->state().is_attached()) return false;
      }
      return host_->state().is_complete();
    });
  }
  size_t count(HostEvent::Kind kind) const {
    size_t n = 0;
    for (const HostEvent& event : host_events_) n += event.kind == kind;
    return n;
  }

  Context context_;
  Context members_context_;  // as if in another process
  std::unique_ptr<Host> host_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<HostEvent> host_events_;
};

// Waits for the next event of the member.
inline MemberEvent next_event(NetHarness& net, Member& member) {
  MemberEvent event;
  net.run([&] { return member.next(event); });
  return event;
}

}  // namespace gt::net
