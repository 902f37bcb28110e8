// What workers of both kinds have in common that are attached to a gt-route:
// those that compute (remote_session.h) and those that only check what they are
// sent (light_members.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "exec/remote/remote_session.h"
#include "net/member.h"
#include "net/poller.h"

namespace gt::exec {

// How long the last messages may take to leave, in milliseconds.
inline constexpr int kLinger = 2000;

// What a worker tells of itself, and whom. It has no data endpoint yet.
net::MemberOptions member_options(const RemoteOptions& options);

// Calls send(message, bytes) for messages that together carry these results.
void each_results_message(
    std::string_view results,
    const std::function<void(std::string message, size_t bytes)>& send);

// While there is one, SIGTERM and SIGINT wake the thread that waits.
class SignalGuard {
 public:
  // `is_local`: a parent started the worker, and decides about SIGINT.
  SignalGuard(net::Wake& wake, bool is_local);
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard();
  static bool is_told();
};

}  // namespace gt::exec
