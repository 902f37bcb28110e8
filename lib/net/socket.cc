#include "net/socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/shortage.h"
#include "net/endpoint.h"

namespace gt::net {
namespace {

constexpr int kMaxSockets = 8192;
constexpr const char* kNeedsKeys =
    "others than processes of this host could be at the other end, and there "
    "are no keys to know them by";
constexpr int kBacklog = 4096;  // most connections that wait to be accepted

// The descriptors that a context needs, with the few sockets, events and files
// beside it.
constexpr size_t kOwnDescriptors = 24;

// Throws if so many threads cannot be started, since libzmq would end the
// process then.
void need_threads(size_t count) {
  std::latch gate(1);
  std::vector<std::jthread> threads;
  // Opens the gate before the threads are joined, also if one could not be
  // started.
  const std::shared_ptr<std::latch> opener(
      &gate, [](std::latch* latch) { latch->count_down(); });
  while (threads.size() < count) {
    threads.emplace_back([&gate] { gate.wait(); });
  }
}

// Returns the file of a Unix socket endpoint; "" if the endpoint is no file.
std::string file_of(const std::string& endpoint) {
  constexpr std::string_view kLocal = "ipc://";
  if (!endpoint.starts_with(kLocal)) return "";
  const std::string path = endpoint.substr(kLocal.size());
  return path.starts_with('@') ? "" : path;
}

// Error: something is at the socket's path other than a socket at which nobody
// listens any more. libzmq would remove whatever is there.
Status check_free(const std::string& file) {
  struct stat info {};
  if (file.empty() || ::lstat(file.c_str(), &info) != 0) return ok_status();
  if (!S_ISSOCK(info.st_mode)) {
    return Error{"a file stands there that is no socket"};
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (file.size() >= sizeof address.sun_path) return ok_status();
  file.copy(address.sun_path, file.size());
  const int fd =
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Error{std::strerror(errno)};
  // EAGAIN: somebody listens, but too many connections wait to be accepted.
  const bool is_used = ::connect(fd, reinterpret_cast<sockaddr*>(&address),
                                 sizeof address) == 0 ||
                       errno == EAGAIN;
  ::close(fd);
  if (is_used) return Error{std::strerror(EADDRINUSE)};
  return ok_status();
}

Error failed(const char* what, const std::string& endpoint,
             const std::string& why = zmq_strerror(errno)) {
  return Error{std::string(what) + " " + endpoint + ": " + why};
}

}  // namespace

Context::Context(int io_threads) : context_(nullptr) {
  need_descriptors(kOwnDescriptors);
  context_ = zmq_ctx_new();
  if (context_ == nullptr) fail_short("cannot make a context of sockets");
  need_threads(static_cast<size_t>(io_threads) + 1);
  GT_CHECK(zmq_ctx_set(context_, ZMQ_IO_THREADS, io_threads) == 0);
  GT_CHECK(zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, kMaxSockets) == 0);
  GT_CHECK(zmq_ctx_set(context_, ZMQ_BLOCKY, 0) == 0);
}

Context::~Context() {
  while (zmq_ctx_term(context_) != 0 && errno == EINTR) {
  }
}

Socket::Socket(Context& context, int type, const LinkOptions& options)
    : socket_(zmq_socket(context.raw(), type)), trust_(options.trust) {
  if (socket_ == nullptr) fail_short("cannot make a socket");
  const auto most = static_cast<int64_t>(options.max_message);
  GT_CHECK(options.max_message > 0);
  GT_CHECK(zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &most, sizeof most) == 0);
  // All users can read a local socket's name; this admits only our own.
  const uid_t self = ::geteuid();
  GT_CHECK(zmq_setsockopt(socket_, ZMQ_IPC_FILTER_UID, &self, sizeof self) ==
           0);
  set(ZMQ_LINGER, 0);
  set(ZMQ_SNDHWM, options.send_queue);
  set(ZMQ_RCVHWM, options.receive_queue);
  set(ZMQ_BACKLOG, kBacklog);
  set(ZMQ_TCP_KEEPALIVE, 1);
  set(ZMQ_TCP_KEEPALIVE_IDLE, 30);
  set(ZMQ_TCP_KEEPALIVE_INTVL, 10);
  set(ZMQ_HANDSHAKE_IVL, options.handshake_ms);
  set(ZMQ_CONNECT_TIMEOUT, options.connect_ms);
  set(ZMQ_RECONNECT_IVL, options.reconnect_ms);
  set(ZMQ_RECONNECT_IVL_MAX, options.reconnect_most_ms);
}

Socket::~Socket() {
  zmq_close(socket_);
  if (!file_.empty()) ::unlink(file_.c_str());
}

void Socket::set(int option, int value) {
  GT_CHECK(zmq_setsockopt(socket_, option, &value, sizeof value) == 0);
}

void Socket::set(int option, const std::string& value) {
  GT_CHECK(zmq_setsockopt(socket_, option, value.c_str(), value.size() + 1) ==
           0);
}

// Enlarges the send buffer of a Unix socket, so that a long message passes at
// once and not in six parts, for each of which two threads wake each other.
// With tcp the system's own choice is better.
void Socket::widen(const std::string& endpoint) {
  constexpr int kBuffer = 1 << 20;  // bytes
  if (!file_of(endpoint).empty()) set(ZMQ_SNDBUF, kBuffer);
}

void Socket::linger(int milliseconds) { set(ZMQ_LINGER, milliseconds); }

Result<std::string> Socket::bind(const std::string& wanted) {
  constexpr const char* kWhat = "cannot listen at";
  const auto resolved = listening_endpoint(wanted);
  if (!resolved.ok()) return failed(kWhat, wanted, resolved.error().message);
  const std::string& endpoint = resolved.value();
  if (is_same_user() && !is_local(endpoint)) {
    return failed(kWhat, wanted, kNeedsKeys);
  }
  if (Status s = check_free(file_of(endpoint)); !s.ok()) {
    return failed(kWhat, endpoint, s.error().message);
  }
  set(ZMQ_IPV6, is_ipv4(endpoint) ? 0 : 1);
  if (trust_.keys) {
    set(ZMQ_CURVE_SERVER, 1);
    set(ZMQ_CURVE_SECRETKEY, trust_.keys->secret);
    GT_CHECK(zmq_setsockopt(socket_, ZMQ_ZAP_DOMAIN, "gt", 2) == 0);
  }
  widen(endpoint);
  if (zmq_bind(socket_, endpoint.c_str()) != 0) {
    return failed(kWhat, endpoint);
  }
  file_ = file_of(endpoint);
  char bound[512];
  size_t size = sizeof bound;
  if (zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, bound, &size) != 0) {
    return failed(kWhat, endpoint);
  }
  return std::string(bound, size - 1);
}

Status Socket::connect(const std::string& endpoint, const std::string& server) {
  constexpr const char* kWhat = "cannot connect to";
  if (const Status s = check_connectable(endpoint); !s.ok()) {
    return failed(kWhat, endpoint, s.error().message);
  }
  if (is_same_user() && !is_local(endpoint)) {
    return failed(kWhat, endpoint, kNeedsKeys);
  }
  set(ZMQ_IPV6, is_ipv4(endpoint) ? 0 : 1);
  if (trust_.keys) {
    if (!is_key(server)) {
      return Error{"the public key of " + endpoint + " is not known"};
    }
    set(ZMQ_CURVE_SERVERKEY, server);
    set(ZMQ_CURVE_PUBLICKEY, trust_.keys->open);
    set(ZMQ_CURVE_SECRETKEY, trust_.keys->secret);
  }
  widen(endpoint);
  if (zmq_connect(socket_, endpoint.c_str()) == 0) return ok_status();
  return failed(kWhat, endpoint);
}

bool Socket::receive_frame(Frame& frame) {
  while (zmq_msg_recv(frame.raw(), socket_, ZMQ_DONTWAIT) < 0) {
    if (errno == EAGAIN) return false;
    GT_CHECK(errno == EINTR);
  }
  return true;
}

bool Socket::has_more() const {
  int more = 0;
  size_t size = sizeof more;
  GT_CHECK(zmq_getsockopt(socket_, ZMQ_RCVMORE, &more, &size) == 0);
  return more != 0;
}

Sent Socket::send_frame(Frame& frame, bool more) {
  const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
  while (zmq_msg_send(frame.raw(), socket_, flags) < 0) {
    if (errno == EAGAIN) return Sent::kWouldBlock;
    if (errno == EHOSTUNREACH) return Sent::kUnknownPeer;
    GT_CHECK(errno == EINTR);
  }
  return Sent::kSent;
}

Router::Router(Context& context, const LinkOptions& options)
    : Socket(context, ZMQ_ROUTER, options) {
  set(ZMQ_ROUTER_MANDATORY, 1);
}

Status Router::connect_as(const std::string& peer, const std::string& endpoint,
                          const std::string& key) {
  GT_CHECK(zmq_setsockopt(socket_, ZMQ_CONNECT_ROUTING_ID, peer.data(),
                          peer.size()) == 0);
  return connect(endpoint, key);
}

void Router::disconnect(const std::string& endpoint) {
  (void)zmq_disconnect(socket_, endpoint.c_str());
}

Sent Router::send_to(std::string_view peer) {
  Frame id{std::string(peer)};
  return send_frame(id, true);
}

Sent Router::send(std::string_view peer, Frame frame) {
  const Sent sent = send_to(peer);
  return sent == Sent::kSent ? send_frame(frame, false) : sent;
}

Sent Router::send(std::string_view peer, Frame first, Frame second) {
  Sent sent = send_to(peer);
  if (sent == Sent::kSent) sent = send_frame(first, true);
  return sent == Sent::kSent ? send_frame(second, false) : sent;
}

bool Router::receive(Incoming& in) {
  Frame frame;
  if (!receive_frame(frame)) return false;
  in.peer = frame.bytes();
  // A name that libzmq makes begins with a zero byte; a name that a peer sends
  // cannot.
  in.is_named_by_us = in.peer.starts_with('\0');
  in.fd = -1;
  in.key.clear();
  // libzmq delivers all parts of a message together.
  for (in.count = 0; has_more(); ++in.count) {
    GT_CHECK(receive_frame(frame));
    if (in.count == 0) in.fd = zmq_msg_get(frame.raw(), ZMQ_SRCFD);
    if (in.count == 0 && trust_.keys) {
      const char* user = zmq_msg_gets(frame.raw(), "User-Id");
      if (user != nullptr) in.key = user;
    }
    if (in.count < Incoming::kMaxParts) {
      in.parts[in.count] = std::move(frame);
    }
  }
  return true;
}

Dealer::Dealer(Context& context, const LinkOptions& options)
    : Socket(context, ZMQ_DEALER, options) {
  set(ZMQ_IMMEDIATE, 1);
}

Sent Dealer::send(Frame frame) { return send_frame(frame, false); }

bool Dealer::receive(Frame& frame) {
  if (!receive_frame(frame)) return false;
  while (has_more()) {
    Frame part;
    GT_CHECK(receive_frame(part));
    frame = Frame();
    if (!has_more()) break;
  }
  return true;
}

LinkMonitor::LinkMonitor(Context& context, const Socket& socket)
    : watched_(socket.raw()), pair_(zmq_socket(context.raw(), ZMQ_PAIR)) {
  static std::atomic<uint64_t> count{0};
  const std::string name = "inproc://gt-monitor-" + std::to_string(++count);
  constexpr int kEvents =
      ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED |
      ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
      ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  if (pair_ == nullptr) fail_short("cannot make a socket");
  const int unbounded = 0;
  GT_CHECK(zmq_setsockopt(pair_, ZMQ_RCVHWM, &unbounded, sizeof unbounded) ==
           0);
  if (zmq_socket_monitor(watched_, name.c_str(), kEvents) != 0) {
    fail_short("cannot watch a socket");
  }
  GT_CHECK(zmq_connect(pair_, name.c_str()) == 0);
}

LinkMonitor::~LinkMonitor() {
  zmq_socket_monitor(watched_, nullptr, 0);
  zmq_close(pair_);
}

namespace {

LinkEvent read_event(std::string_view bytes, std::string_view endpoint) {
  uint16_t what = 0;
  int32_t value = 0;
  GT_CHECK(bytes.size() == sizeof what + sizeof value);
  std::memcpy(&what, bytes.data(), sizeof what);
  std::memcpy(&value, bytes.data() + sizeof what, sizeof value);
  switch (what) {
    case ZMQ_EVENT_CONNECTED:
      return {LinkEvent::Kind::kConnected, value, std::string(endpoint)};
    case ZMQ_EVENT_DISCONNECTED:
      return {LinkEvent::Kind::kDown, value, {}};
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      return {LinkEvent::Kind::kUp, -1, {}};
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return {LinkEvent::Kind::kDenied, -1, {}};
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      return {LinkEvent::Kind::kMismatch, -1, {}};
    default:
      return {LinkEvent::Kind::kRejected, -1, {}};
  }
}

}  // namespace

bool LinkMonitor::next(LinkEvent& event) {
  Frame frame;
  Frame endpoint;
  if (zmq_msg_recv(frame.raw(), pair_, ZMQ_DONTWAIT) < 0) return false;
  GT_CHECK(zmq_msg_recv(endpoint.raw(), pair_, ZMQ_DONTWAIT) >= 0);
  event = read_event(frame.bytes(), endpoint.bytes());
  return true;
}

}  // namespace gt::net
