// The private endpoints at which the gt-routes of this host can be watched.
// Each is an abstract Unix socket, which the kernel removes when its process
// ends, however it ends. Its name contains the user's and the process's number.
// The name is only a claim: whoever connects must check to whom the socket
// belongs (peer_user.h), as for all connections without keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gt::net {

// The monitor of a gt-route: its process and its endpoint.
struct MonitorAt {
  uint64_t pid = 0;
  std::string endpoint;
};

// Returns an endpoint for this process; a new one each time.
std::string monitor_endpoint();
// Returns the endpoints whose names claim to be this user's, by pid.
std::vector<MonitorAt> find_monitors();
// Does the same from the text of /proc/net/unix.
std::vector<MonitorAt> find_monitors(std::string_view sockets, uint64_t user);

}  // namespace gt::net
