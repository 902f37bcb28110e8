// What the two kinds of workers that are attached to a gt-route have in common:
// those that compute (remote_session.h), and the light members, which only
// check what they are sent (light_members.h).
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

// What a worker tells gt-route of itself, and where that is. Its endpoint for
// other workers (WorkerInfo::data) is still to be filled in.
net::MemberOptions member_options(const RemoteOptions& options);

// Cuts results into messages and calls send(message, bytes) for each; `bytes`
// are those of results in it.
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
