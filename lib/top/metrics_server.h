// MetricsServer: serves a text at /metrics over HTTP, by libmicrohttpd, on a
// thread of its own. It answers GET and HEAD, and ignores the bodies of
// requests.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

struct MHD_Daemon;

namespace gt::top {

class MetricsServer {
 public:
  // Listens at `address`: "127.0.0.1:9100", "[::1]:9100"; port 0 stands for any
  // free port. ":9100" is at 127.0.0.1. Errors: there is no such address, or
  // the system does not allow it.
  static Result<std::unique_ptr<MetricsServer>> make(
      const std::string& address);
  ~MetricsServer();  // ends all connections
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Sets the text that is served from now on; before the first call the answer
  // is status 503.
  void set(std::string text);
  std::string get();
  uint16_t port() const;

 private:
  MetricsServer() = default;

  MHD_Daemon* daemon_ = nullptr;
  std::mutex mutex_;
  std::string text_;  // guarded by mutex_
};

// True if the text is an address and not a file: it has no slash, and only
// digits behind the last colon.
bool is_metrics_address(const std::string& text);
// True if only processes of this host can reach the address. Error: it is no
// address.
Result<bool> is_loopback_address(const std::string& address);

}  // namespace gt::top
