// What workers attached to a gt-route have in common: those that compute
// (remote_session.h), and those of tests, which only check what they are sent
// (tests/tools/light_members.cc).
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

// Returns what a worker tells gt-route about itself, and how to reach gt-route.
// The caller sets its endpoint for other workers (WorkerInfo::data).
net::MemberOptions member_options(const RemoteOptions& options);

// Cuts results into messages and calls send(message, bytes) for each; `bytes`
// counts the bytes of results in it.
void each_results_message(
    std::string_view results,
    const std::function<void(std::string message, size_t bytes)>& send);

// While a SignalGuard exists, SIGTERM and SIGINT wake the waiting thread.
class SignalGuard {
 public:
  // `is_local` is true if a parent started the worker; then SIGINT is ignored,
  // since the parent gets it too and decides.
  SignalGuard(net::Wake& wake, bool is_local);
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard();
  // True if a signal has come.
  static bool is_told();
};

}  // namespace gt::exec
