#include "top/metrics_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "net/endpoint.h"
#include "top/metrics.h"

namespace gt::top {
namespace {

constexpr unsigned kMostConnections = 16;
// One machine that connects again and again keeps no other out.
constexpr unsigned kMostOfAddress = kMostConnections / 2;
constexpr unsigned kSilence = 10;            // seconds without any data
constexpr size_t kConnectionMemory = 16384;  // bytes for a request

struct Address {
  std::string host;
  uint16_t port = 0;
};

Result<Address> parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  Address out;
  if (colon == std::string::npos ||
      !read_number(std::string_view(text).substr(colon + 1), out.port)) {
    return Error{"'" + text +
                 "' is no address; expected :PORT or HOST:PORT, with a port "
                 "up to 65535"};
  }
  out.host = colon == 0 ? "127.0.0.1" : text.substr(0, colon);
  return out;
}

// Returns the numeric endpoint: "tcp://127.0.0.1:9100".
Result<std::string> endpoint_of(const std::string& text) {
  const auto address = parse_address(text);
  if (!address.ok()) return address.error();
  return net::listening_endpoint("tcp://" + address.value().host + ":" +
                                 std::to_string(address.value().port));
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<SocketAddress> socket_address(const std::string& text) {
  const auto endpoint = endpoint_of(text);
  if (!endpoint.ok()) return endpoint.error();
  auto address = parse_address(endpoint.value().substr(6));
  if (!address.ok()) return address.error();
  std::string host = address.value().host;
  const bool is_six = host.starts_with('[');
  if (is_six) host = host.substr(1, host.size() - 2);
  if (host == "*") host = "0.0.0.0";
  SocketAddress out;
  if (is_six) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.value().port);
    if (::inet_pton(AF_INET6, host.c_str(), &in.sin6_addr) != 1) {
      return Error{"'" + text + "' is no address"};
    }
    std::memcpy(&out.storage, &in, sizeof in);
    out.size = sizeof in;
  } else {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.value().port);
    if (::inet_pton(AF_INET, host.c_str(), &in.sin_addr) != 1) {
      return Error{"'" + text + "' is no address"};
    }
    std::memcpy(&out.storage, &in, sizeof in);
    out.size = sizeof in;
  }
  return out;
}

MHD_Result reply(MHD_Connection* connection, unsigned status,
                 const std::string& text, const char* type) {
  // The library takes a pointer to non-const, but copies the text.
  MHD_Response* response = MHD_create_response_from_buffer(
      text.size(), const_cast<char*>(text.data()),  // NOLINT
      MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  }
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

MHD_Result answer(void* server, MHD_Connection* connection, const char* url,
                  const char* method, const char* /*version*/,
                  const char* /*upload*/, size_t* upload_size, void** state) {
  static int begun = 0;
  const std::string_view verb = method;
  if (verb != "GET" && verb != "HEAD") {
    if (*upload_size > 0) {  // the body is ignored
      *upload_size = 0;
      return MHD_YES;
    }
    if (std::exchange(*state, &begun) == nullptr) return MHD_YES;
    return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n",
                 "text/plain");
  }
  if (std::string_view(url) != "/metrics") {
    return reply(connection, MHD_HTTP_NOT_FOUND, "see /metrics\n",
                 "text/plain");
  }
  const std::string text = static_cast<MetricsServer*>(server)->get();
  if (text.empty()) {
    return reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                 "nothing is known of gt-route as yet\n", "text/plain");
  }
  return reply(connection, MHD_HTTP_OK, text,
               std::string(kMetricsType).c_str());
}

void notice_connection(void* server, MHD_Connection* connection,
                       void** /*state*/, MHD_ConnectionNotificationCode what) {
  auto* const self = static_cast<MetricsServer*>(server);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    self->begin_connection(connection);
  } else {
    self->end_connection(connection);
  }
}

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::make(
    const std::string& address, std::chrono::milliseconds patience) {
  auto at = socket_address(address);
  if (!at.ok()) return at.error();
  std::unique_ptr<MetricsServer> server(new MetricsServer(patience));
  unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;
  if (at.value().storage.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
  errno = 0;
  server->daemon_ = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &answer, server.get(), MHD_OPTION_SOCK_ADDR,
      reinterpret_cast<sockaddr*>(&at.value().storage),
      MHD_OPTION_NOTIFY_CONNECTION, &notice_connection, server.get(),
      MHD_OPTION_CONNECTION_LIMIT, kMostConnections,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, kMostOfAddress,
      MHD_OPTION_CONNECTION_TIMEOUT, kSilence,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_END);
  if (server->daemon_ == nullptr) {
    return Error{address + ": cannot be listened at" +
                 (errno == 0 ? "" : std::string(": ") + std::strerror(errno))};
  }
  server->watch_ = std::jthread([self = server.get()](std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      changed.wait_for(lock, stop, self->patience_ / 10, [] { return false; });
      self->close_late();
    }
  });
  return server;
}

MetricsServer::~MetricsServer() {
  watch_ = {};
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

void MetricsServer::begin_connection(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == nullptr) return;
  const std::lock_guard lock(mutex_);
  open_[connection] = {Fd(::fcntl(info->connect_fd, F_DUPFD_CLOEXEC, 0)),
                       steady_ns()};
}

void MetricsServer::end_connection(MHD_Connection* connection) {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
}

// The library itself only counts silence, which a byte now and then breaks.
void MetricsServer::close_late() {
  const int64_t before =
      steady_ns() - std::chrono::nanoseconds(patience_).count();
  const std::lock_guard lock(mutex_);
  for (const auto& [connection, open] : open_) {
    if (open.since < before) ::shutdown(open.socket.get(), SHUT_RDWR);
  }
}

void MetricsServer::set(std::string text) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
}

std::string MetricsServer::get() {
  const std::lock_guard lock(mutex_);
  return text_;
}

uint16_t MetricsServer::port() const {
  const MHD_DaemonInfo* info =
      MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
  return info == nullptr ? uint16_t{0} : info->port;
}

bool is_metrics_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  return colon != std::string::npos && text.find('/') == std::string::npos &&
         text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

Result<bool> is_loopback_address(const std::string& address) {
  const auto endpoint = endpoint_of(address);
  if (!endpoint.ok()) return endpoint.error();
  return net::is_local(endpoint.value());
}

}  // namespace gt::top
