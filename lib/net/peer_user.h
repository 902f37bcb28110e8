// Tells to which user the other end of a connection on this machine belongs.
// Without keys, connections are only accepted from, and made to, processes of
// the same user, unless the operator has allowed anyone (Trust::anyone,
// keys.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace gt::net {

// Returns the user of the process at the other end of a connected socket. For a
// Unix socket it is what the kernel noted (SO_PEERCRED); for tcp over a
// loopback address, what the kernel says about the other socket (sock_diag(7)).
// Returns none if the connection has ended, or does not stay within this host.
// Error: the kernel does not tell.
Result<std::optional<uid_t>> peer_user(int fd);

// Whose process is at the other end: our user's, or another's. kGone: the
// connection has ended.
enum class PeerIs : uint8_t { kSameUser, kOther, kGone };
// The outcome of check_peer().
struct PeerCheck {
  PeerIs is = PeerIs::kGone;
  std::string
      why;  // for people, unless it is our user's process: "it belongs ..."
};
// Checks the other end. If nothing can be known about it, the result is kOther.
PeerCheck check_peer(int fd);

}  // namespace gt::net
