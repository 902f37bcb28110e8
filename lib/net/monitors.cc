#include "net/monitors.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/hex.h"
#include "base/random_token.h"
#include "base/text.h"
#include "net/endpoint.h"

namespace gt::net {
namespace {

// "@gt-route.USER.PID.RANDOM"
constexpr std::string_view kName = "@gt-route.";
constexpr size_t kRandom = 16;  // hexadecimal digits

// Takes a number and the dot behind it.
bool take_digits(std::string_view& rest, uint64_t& number) {
  const size_t dot = rest.find('.');
  if (dot == rest.npos || !read_number(rest.substr(0, dot), number)) {
    return false;
  }
  rest.remove_prefix(dot + 1);
  return true;
}

}  // namespace

std::string monitor_endpoint() {
  return "ipc://" + std::string(kName) + std::to_string(::geteuid()) + "." +
         std::to_string(::getpid()) + "." + random_token().substr(0, kRandom);
}

std::vector<MonitorAt> find_monitors() {
  const std::ifstream file("/proc/net/unix");
  std::ostringstream text;
  text << file.rdbuf();
  return find_monitors(text.str(), ::geteuid());
}

// The columns are: Num RefCount Protocol Flags Type St Inode Path. The flags
// tell a listening socket from its connections, which have its path too.
std::vector<MonitorAt> find_monitors(std::string_view sockets, uint64_t user) {
  constexpr std::string_view kListens = "00010000";
  std::vector<MonitorAt> found;
  while (!sockets.empty()) {
    const std::string_view line = sockets.substr(0, sockets.find('\n'));
    sockets.remove_prefix(std::min(line.size() + 1, sockets.size()));
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 8 || words[3] != kListens) continue;
    std::string_view rest = words[7];
    if (!rest.starts_with(kName)) continue;
    rest.remove_prefix(kName.size());
    uint64_t owner = 0;
    uint64_t pid = 0;
    if (!take_digits(rest, owner) || !take_digits(rest, pid)) continue;
    const bool is_ours = owner == user && rest.size() == kRandom &&
                         rest.find_first_not_of(kHexDigits) == rest.npos;
    if (is_ours) found.push_back({pid, "ipc://" + std::string(words[7])});
  }
  std::ranges::sort(found, {}, &MonitorAt::pid);
  return found;
}

}  // namespace gt::net
