#include "net/endpoint.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace gt {
namespace {

constexpr std::string_view kTcp = "tcp://";

struct HostPort {
  std::string host;
  std::string port;
};

// "tcp://HOST:PORT", "tcp://[::1]:PORT".
HostPort split(std::string_view endpoint) {
  endpoint.remove_prefix(kTcp.size());
  const size_t colon = endpoint.rfind(':');
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

// The local address of a datagram socket that was connected, which sends
// nothing; "" if there is no way.
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

}  // namespace

std::string random_token() {
  unsigned char bytes[16];
  GT_CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kHex[byte >> 4];
    token += kHex[byte & 15];
  }
  return token;
}

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

bool is_ipv4(std::string_view endpoint) {
  in_addr four{};
  return is_tcp(endpoint) &&
         ::inet_pton(AF_INET, split(endpoint).host.c_str(), &four) == 1;
}

bool is_loopback(std::string_view endpoint) {
  if (!is_tcp(endpoint)) return true;
  const std::string host = split(endpoint).host;
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return (ntohl(four.s_addr) >> 24) == 127;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&six) ||
           (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
  }
  return host == "localhost" || host == "lo";
}

Status check_port(std::string_view endpoint) {
  if (!is_tcp(endpoint)) return ok_status();
  const std::string port = split(endpoint).port;
  uint16_t number = 0;
  if (port == "*" || read_number(port, number)) return ok_status();
  return Error{"'" + port + "' is no port; expected 0 to 65535, or *"};
}

Result<std::string> listening_endpoint(const std::string& endpoint) {
  if (!is_tcp(endpoint)) return endpoint;
  const auto [host, port] = split(endpoint);
  if (host == "*" || ::if_nametoindex(host.c_str()) != 0) return endpoint;
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code != 0) return Error{::gai_strerror(code)};
  char address[NI_MAXHOST] = "";
  const int named = ::getnameinfo(found->ai_addr, found->ai_addrlen, address,
                                  sizeof address, nullptr, 0, NI_NUMERICHOST);
  ::freeaddrinfo(found);
  if (named != 0) return Error{::gai_strerror(named)};
  return with_port(address, port);
}

Result<std::string> endpoint_beside(const std::string& near) {
  if (!is_tcp(near)) return local_endpoint();
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

}  // namespace gt
