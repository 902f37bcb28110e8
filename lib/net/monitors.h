// The private endpoints at which the gt-routes of this host are watched. Each
// is an abstract Unix socket, which the kernel takes away when its process
// ends, however that does; its name has the user's and the process's number.
// The name is a claim: who comes there must ask to whom it belongs
// (peer_user.h), as all connections without keys do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gt::net {

struct MonitorAt {
  uint64_t pid = 0;
  std::string endpoint;
};

// An endpoint for this process; a new one each time.
std::string monitor_endpoint();
// Those that say to be of this user, by pid.
std::vector<MonitorAt> find_monitors();
// The same, of the text of /proc/net/unix.
std::vector<MonitorAt> find_monitors(std::string_view sockets, uint64_t user);

}  // namespace gt::net
