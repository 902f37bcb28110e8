// Tells to which user the other end of a connection on this machine belongs. A
// connection without keys is taken from, and made to, processes of the same
// user alone, unless the operator has said that anyone may come
// (LinkOptions::anyone).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace gt::net {

// The user of the process at the other end of a connected socket: for a Unix
// socket as the kernel noted it (SO_PEERCRED), for tcp over a loopback address
// as the kernel tells it of the other socket (sock_diag(7)). Nothing: the
// connection has ended, or is none within this host. Error: the kernel does not
// tell.
Result<std::optional<uid_t>> peer_user(int fd);

// Whether the process at the other end belongs to our user. kGone: the
// connection has ended.
enum class PeerIs : uint8_t { kSameUser, kOther, kGone };
struct PeerCheck {
  PeerIs is = PeerIs::kGone;
  std::string
      why;  // unless it is one of our user, for people: "it belongs ..."
};
// Looks whose the other end is. One of which nothing can be known is kOther.
PeerCheck check_peer(int fd);

}  // namespace gt::net
