#include "net/endpoint.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/random_token.h"
#include "base/text.h"

namespace gt::net {
namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kIpc = "ipc://";
constexpr const char* kForms =
    "expected tcp://HOST:PORT, ipc://PATH or ipc://@NAME";

struct HostPort {
  std::string host;
  std::string port;
};

// Splits "tcp://HOST:PORT" or "tcp://[::1]:PORT".
HostPort split(std::string_view endpoint) {
  endpoint.remove_prefix(kTcp.size());
  const size_t bracket = endpoint.rfind(']');
  size_t colon = endpoint.rfind(':');
  // The colon is within brackets, so there is no port.
  if (bracket != endpoint.npos && colon < bracket) colon = endpoint.npos;
  std::string_view host = endpoint.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  const bool has_port = colon != std::string_view::npos;
  return {std::string(host),
          std::string(has_port ? endpoint.substr(colon + 1) : "")};
}

std::string with_port(const std::string& address, const std::string& port) {
  const bool is_six = address.find(':') != std::string::npos;
  return std::string(kTcp) + (is_six ? "[" + address + "]" : address) + ":" +
         port;
}

// Returns this host's address on the way to `to`, or "" if there is no way. It
// asks a connected datagram socket, which sends nothing.
std::string local_address(const addrinfo& to) {
  const int fd = ::socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  sockaddr_storage self{};
  socklen_t size = sizeof self;
  auto* address = reinterpret_cast<sockaddr*>(&self);
  char host[NI_MAXHOST] = "";
  const bool found = ::connect(fd, to.ai_addr, to.ai_addrlen) == 0 &&
                     ::getsockname(fd, address, &size) == 0 &&
                     ::getnameinfo(address, size, host, sizeof host, nullptr, 0,
                                   NI_NUMERICHOST) == 0;
  ::close(fd);
  return found ? host : "";
}

bool is_port(std::string_view port) {
  uint16_t number = 0;
  return port == "*" || read_number(port, number);
}

// Guesses which endpoint was meant by a text that is none; "" if it cannot.
std::string guess(std::string_view text) {
  if (text.starts_with('/')) return std::string(kIpc).append(text);
  if (text.starts_with('@')) return std::string(kIpc).append(text);
  if (text.find("://") != text.npos) return "";
  const HostPort parts = split(std::string(kTcp).append(text));
  if (parts.host.empty() || !is_port(parts.port)) return "";
  return std::string(kTcp).append(text);
}

Status check_tcp(std::string_view endpoint) {
  const auto [host, port] = split(endpoint);
  // The ';' is excluded since libzmq also accepts "SOURCE;HOST:PORT".
  const bool is_host =
      !host.empty() && host.find_first_of(";/ \t") == host.npos;
  if (!is_host) return Error{"'" + host + "' is no host; " + kForms};
  if (port.empty()) {
    return Error{"it has no port; expected " + std::string(endpoint) + ":PORT"};
  }
  if (is_port(port)) return ok_status();
  return Error{"'" + port + "' is no port; expected 0 to 65535, or *"};
}

// Returns the address of a network interface, preferably an IPv4 one; "" if no
// interface has the name.
std::string interface_address(const std::string& name) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "";
  std::string found;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      if (!found.empty() || one->ifa_addr == nullptr) continue;
      if (one->ifa_addr->sa_family != family || name != one->ifa_name) continue;
      const socklen_t size =
          family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      char address[NI_MAXHOST] = "";
      const int code =
          ::getnameinfo(one->ifa_addr, size, address, sizeof address, nullptr,
                        0, NI_NUMERICHOST);
      if (code == 0) found = address;
    }
  }
  ::freeifaddrs(all);
  return found;
}

// Returns the first address of a host name, in numbers.
Result<std::string> host_address(const std::string& host, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code != 0) return Error{"'" + host + "': " + ::gai_strerror(code)};
  char address[NI_MAXHOST] = "";
  const int named = ::getnameinfo(found->ai_addr, found->ai_addrlen, address,
                                  sizeof address, nullptr, 0, NI_NUMERICHOST);
  ::freeaddrinfo(found);
  if (named != 0) return Error{"'" + host + "': " + ::gai_strerror(named)};
  return std::string(address);
}

}  // namespace

bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return differ == 0;
}

std::string local_endpoint() { return "ipc://@gt-" + random_token(); }

bool is_tcp(std::string_view endpoint) { return endpoint.starts_with(kTcp); }

Status check_directory(std::string_view endpoint) {
  if (!endpoint.starts_with(kIpc)) return ok_status();
  const std::string path(endpoint.substr(kIpc.size()));
  const size_t slash = path.rfind('/');
  if (path.starts_with('@') || slash == std::string::npos) return ok_status();
  const std::string directory = path.substr(0, slash + 1);
  if (::access(directory.c_str(), F_OK) == 0) return ok_status();
  if (errno != ENOENT && errno != ENOTDIR) return ok_status();
  return Error{"nobody can listen there, since there is no directory " +
               directory};
}

bool is_ipv4(std::string_view endpoint) {
  in_addr four{};
  return is_tcp(endpoint) &&
         ::inet_pton(AF_INET, split(endpoint).host.c_str(), &four) == 1;
}

Status check_endpoint(std::string_view endpoint) {
  if (is_tcp(endpoint)) return check_tcp(endpoint);
  if (endpoint.starts_with(kIpc)) {
    const std::string_view path = endpoint.substr(kIpc.size());
    if (!path.empty() && path != "@") return ok_status();
    return Error{std::string("it names no socket; ") + kForms};
  }
  const std::string meant = guess(endpoint);
  if (!meant.empty()) {
    return Error{"it has no transport; did you mean " + meant + "?"};
  }
  return Error{std::string("gt takes no such transport; ") + kForms};
}

bool is_local(std::string_view endpoint) {
  if (!check_endpoint(endpoint).ok()) return false;
  if (!is_tcp(endpoint)) return true;
  const std::string host = split(endpoint).host;
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return (ntohl(four.s_addr) >> 24) == 127;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &six) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&six) ||
         (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

Result<std::string> listening_endpoint(const std::string& endpoint) {
  if (Status s = check_endpoint(endpoint); !s.ok()) return s.error();
  if (!is_tcp(endpoint)) return endpoint;
  const auto [host, port] = split(endpoint);
  if (host == "*") return endpoint;
  const std::string own = interface_address(host);
  if (!own.empty()) return with_port(own, port);
  const auto address = host_address(host, AI_PASSIVE);
  return address.ok() ? Result(with_port(address.value(), port))
                      : address.error();
}

Status check_connectable(std::string_view endpoint) {
  if (Status s = check_endpoint(endpoint); !s.ok()) return s;
  if (!is_tcp(endpoint)) return ok_status();
  const auto [host, port] = split(endpoint);
  if (host != "*" && port != "*" && port.find_first_not_of('0') != port.npos) {
    return ok_status();
  }
  return Error{
      "nobody can connect to '*' or to port 0; name the host and the "
      "port at which gt-route listens"};
}

Result<std::string> connecting_endpoint(const std::string& endpoint) {
  if (Status s = check_connectable(endpoint); !s.ok()) return s.error();
  if (!is_tcp(endpoint)) return endpoint;
  const auto [host, port] = split(endpoint);
  const auto address = host_address(host, 0);
  return address.ok() ? Result(with_port(address.value(), port))
                      : address.error();
}

Result<std::string> endpoint_beside(const std::string& near,
                                    bool is_same_user) {
  if (!is_tcp(near) || (is_same_user && is_local(near))) {
    return local_endpoint();
  }
  const auto [host, port] = split(near);
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) return Error{near + ": " + ::gai_strerror(code)};
  std::string address;
  for (const addrinfo* to = found; to != nullptr && address.empty();
       to = to->ai_next) {
    address = local_address(*to);
  }
  ::freeaddrinfo(found);
  if (address.empty()) return Error{"no way to " + near + " from this host"};
  return with_port(address, "*");
}

}  // namespace gt::net
