// MetricsServer: serves a text at /metrics over HTTP, by libmicrohttpd, on a
// thread of its own. It answers GET and HEAD, and ignores the bodies of
// requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "file/files.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace gt::top {

class MetricsServer {
 public:
  // Listens at `address`: "127.0.0.1:9100", "[::1]:9100"; port 0 stands for any
  // free port. ":9100" is at 127.0.0.1. Errors: there is no such address, or
  // the system does not allow it.
  // A connection, which is for one request, is closed after `patience`: there
  // is room for few of them.
  static Result<std::unique_ptr<MetricsServer>> make(
      const std::string& address,
      std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~MetricsServer();  // ends all connections
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Sets the text that is served from now on; before the first call the answer
  // is status 503.
  void set(std::string text);
  std::string get();
  uint16_t port() const;

  // Called by the library's thread: a connection was made; it was closed, or
  // soon is.
  void begin_connection(MHD_Connection* connection);
  void end_connection(MHD_Connection* connection);

 private:
  explicit MetricsServer(std::chrono::milliseconds patience)
      : patience_(patience) {}
  void close_late();

  const std::chrono::milliseconds patience_;
  MHD_Daemon* daemon_ = nullptr;
  std::mutex mutex_;
  // A connection, which was made at that time, in steady_ns(). It has a
  // descriptor of its own: that of the library may be another connection's
  // before we hear that this one was closed.
  struct Open {
    Fd socket;
    int64_t since = 0;
  };
  // Guarded by mutex_:
  std::string text_;
  std::map<MHD_Connection*, Open> open_;
  std::jthread watch_;  // closes connections that are late
};

// True if the text is an address and not a file: it has no slash, and only
// digits behind the last colon.
bool is_metrics_address(const std::string& text);
// True if only processes of this host can reach the address. Error: it is no
// address.
Result<bool> is_loopback_address(const std::string& address);

}  // namespace gt::top
