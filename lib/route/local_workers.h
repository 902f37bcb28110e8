// Workers that gt-route starts on its own host. None outlives it: each asks the
// system to be killed when its parent ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/poller.h"

namespace gt::route {

struct LocalWorkerOptions {
  std::string endpoint;
  std::string token;                   // by environment, GT_TOKEN
  std::vector<std::string> arguments;  // as --threads=2, for each of them
};

class LocalWorkers {
 public:
  LocalWorkers() = default;
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;
  ~LocalWorkers();  // kills what still runs

  // Starts `count` of them. Error: the system has no room for a process.
  Status start(uint32_t count, const LocalWorkerOptions& options);

  // How a worker ended.
  struct End {
    std::string how;          // "worker 2 was killed by signal 9 (SIGKILL)"
    bool was_killed = false;  // by a signal
    int64_t at = 0;           // when that was seen, by net::now_ms()
  };

  size_t size() const { return workers_.size(); }
  // Waits for the end of one that has not ended.
  void add_to(net::Poller& poller) const;
  // The end of a worker, if it has ended or does so within that time; else
  // null.
  const End* see_end(size_t worker, int milliseconds);
  void kill(size_t worker);
  void kill_all();
  // Waits until all have ended, at most so long; then kills them.
  void wait_all(int milliseconds);

 private:
  struct Worker {
    pid_t pid = -1;
    int pidfd = -1;  // -1: its end was seen
    std::optional<End> end;
  };
  void take_end(size_t worker);
  std::vector<Worker> workers_;
};

}  // namespace gt::route
