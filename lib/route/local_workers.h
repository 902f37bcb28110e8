// Workers that gt-route starts on its own host. None outlives it: each asks the
// system to be killed when its parent ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace gt {

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

  size_t size() const { return workers_.size(); }
  // Readable once the worker has ended; -1 when that was seen.
  int fd(size_t worker) const { return workers_[worker].pidfd; }
  // How a worker that has ended did, for people: "exited with status 3", "was
  // killed by signal 9 (SIGKILL)".
  std::string take_end(size_t worker);
  bool was_killed(size_t worker) const { return workers_[worker].was_killed; }
  void kill_all();
  // Waits until all have ended, at most so long; then kills them.
  void wait_all(int milliseconds);

 private:
  struct Worker {
    pid_t pid = -1;
    int pidfd = -1;
    bool was_killed = false;  // by a signal
  };
  std::vector<Worker> workers_;
};

}  // namespace gt
