#include "net/peer_user.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

namespace gt::net {
namespace {

// An end of a tcp connection as sock_diag describes it, in network byte order.
// An IPv4 address is in the first word.
struct End {
  uint16_t port = 0;
  uint32_t address[4] = {};
};

// The two ends of a connection over loopback addresses, as the other side sees
// it.
struct Connection {
  uint8_t family = AF_UNSPEC;
  End theirs, ours;
};

using GetName = int (*)(int, sockaddr*, socklen_t*);

bool is_loopback(const in6_addr& address) {
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return IN6_IS_ADDR_LOOPBACK(&address);
  return address.s6_addr[12] == 127;
}

// Reads an end of the socket. False if it has no loopback address.
bool read_end(int fd, GetName get_name, uint8_t& family, End& end) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* name = reinterpret_cast<sockaddr*>(&storage);
  if (get_name(fd, name, &size) != 0) return false;
  in6_addr six{};
  if (storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &storage, sizeof in);
    six.s6_addr[10] = six.s6_addr[11] = 0xff;  // as an IPv4-mapped address
    std::memcpy(&six.s6_addr[12], &in.sin_addr, 4);
    end.port = in.sin_port;
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &storage, sizeof in);
    six = in.sin6_addr;
    end.port = in.sin6_port;
  } else {
    return false;
  }
  const bool is_four = IN6_IS_ADDR_V4MAPPED(&six);
  family = is_four ? AF_INET : AF_INET6;
  std::memcpy(end.address, &six.s6_addr[is_four ? 12 : 0], is_four ? 4 : 16);
  return is_loopback(six);
}

struct Request {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

Request request_of(const Connection& link) {
  Request request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = link.family;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = 1U << TCP_ESTABLISHED;
  inet_diag_sockid& id = request.body.id;
  id.idiag_sport = link.theirs.port;
  id.idiag_dport = link.ours.port;
  std::memcpy(id.idiag_src, link.theirs.address, sizeof id.idiag_src);
  std::memcpy(id.idiag_dst, link.ours.address, sizeof id.idiag_dst);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

// Asks the kernel about a connection. Returns 0, or an error number.
int ask(const Connection& link, inet_diag_msg& answer) {
  const int fd =
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return errno;
  const Request request = request_of(link);
  alignas(nlmsghdr) char reply[4096];
  ssize_t n = ::send(fd, &request, sizeof request, 0);
  if (n >= 0) n = ::recv(fd, reply, sizeof reply, 0);
  const int failed = n < 0 ? errno : 0;
  ::close(fd);
  if (failed != 0) return failed;
  nlmsghdr header{};
  if (static_cast<size_t>(n) < sizeof header) return EPROTO;
  std::memcpy(&header, reply, sizeof header);
  const char* const body = reply + NLMSG_HDRLEN;
  const size_t size = static_cast<size_t>(n) - NLMSG_HDRLEN;
  if (header.nlmsg_type == NLMSG_ERROR && size >= sizeof(nlmsgerr)) {
    nlmsgerr error{};
    std::memcpy(&error, body, sizeof error);
    return error.error == 0 ? EPROTO : -error.error;
  }
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || size < sizeof answer) {
    return EPROTO;
  }
  std::memcpy(&answer, body, sizeof answer);
  return 0;
}

// True if the answer is about this connection. If there is no such connection,
// the kernel describes the listening socket of the port; and a socket without
// an inode is held by nobody any more.
bool is_that(const inet_diag_msg& answer, const Connection& link) {
  return answer.idiag_state == TCP_ESTABLISHED && answer.idiag_inode != 0 &&
         answer.id.idiag_sport == link.theirs.port &&
         answer.id.idiag_dport == link.ours.port;
}

Result<std::optional<uid_t>> tcp_user(const Connection& link) {
  inet_diag_msg answer{};
  const int error = ask(link, answer);
  if (error == ENOENT) return std::optional<uid_t>();
  if (error != 0) {
    return Error{std::string("this system does not tell whose it is "
                             "(sock_diag: ") +
                 std::strerror(error) + ")"};
  }
  if (!is_that(answer, link)) return std::optional<uid_t>();
  return std::optional<uid_t>(answer.idiag_uid);
}

// Returns none if it is not a Unix socket.
std::optional<uid_t> unix_user(int fd) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
      family != AF_UNIX) {
    return std::nullopt;
  }
  ucred other{};
  size = sizeof other;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0) {
    return std::nullopt;
  }
  return other.uid;
}

}  // namespace

Result<std::optional<uid_t>> peer_user(int fd) {
  if (const auto user = unix_user(fd)) return std::optional<uid_t>(*user);
  Connection link;
  uint8_t family = AF_UNSPEC;
  if (!read_end(fd, ::getpeername, link.family, link.theirs) ||
      !read_end(fd, ::getsockname, family, link.ours) ||
      family != link.family) {
    return std::optional<uid_t>();
  }
  return tcp_user(link);
}

PeerCheck check_peer(int fd) {
  const auto user = peer_user(fd);
  if (!user.ok()) return {PeerIs::kOther, user.error().message};
  if (!user.value()) {
    return {PeerIs::kGone, "its connection within this host is not found"};
  }
  if (*user.value() == ::geteuid()) return {PeerIs::kSameUser, ""};
  return {PeerIs::kOther,
          "it belongs to user " + std::to_string(*user.value()) +
              ", and this is user " + std::to_string(::geteuid())};
}

}  // namespace gt::net
