// Serves a text at /metrics over HTTP, by libmicrohttpd, on a thread of its
// own. It answers GET and HEAD, and reads nothing of what is sent besides.
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
  // Where to listen: "127.0.0.1:9100", "[::1]:9100"; port 0 is any. ":9100" is
  // at 127.0.0.1. Errors: no such address, or the system does not allow it.
  static Result<std::unique_ptr<MetricsServer>> make(
      const std::string& address);
  ~MetricsServer();  // ends all connections
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // What is served from now on; before the first call it is 503.
  void set(std::string text);
  std::string get();
  uint16_t port() const;

 private:
  MetricsServer() = default;

  MHD_Daemon* daemon_ = nullptr;
  std::mutex mutex_;
  std::string text_;  // guarded by mutex_
};

// Whether an address is meant, and no file: without a slash, and with nothing
// but digits behind the last colon.
bool is_metrics_address(const std::string& text);
// Whether processes of this host alone can reach it. Error: it is no address.
Result<bool> is_loopback_address(const std::string& address);

}  // namespace gt::top
