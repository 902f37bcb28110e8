// The workers that gt-route starts on its own host: processes of gt-work, which
// connect to it as those of other hosts do. None outlives gt-route: each asks
// the system to be killed when its parent ends. That one has ended, gt-route
// learns from a pidfd, a descriptor of the process that can be read then.
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
  std::string endpoint;  // where they are to connect to
  // The word that admits them, which they get in the environment as GT_TOKEN:
  // arguments can be read by other users.
  std::string token;
  std::vector<std::string> arguments;  // of each, besides those for connecting
};

// How many devices of that backend this host has, as gt-work --list-devices
// says; 0 if it has said on standard error why there are none. Error: gt-work
// cannot be started.
Result<uint32_t> count_devices(const std::string& backend);

class LocalWorkers {
 public:
  LocalWorkers() = default;
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;
  ~LocalWorkers();  // kills what still runs

  // Starts `count` processes, with worker numbers from 0: of the gt-work that
  // lies beside this program, or else that of PATH. Does not wait until they
  // run: that gt-work was not found is seen as their end. Error: the system has
  // no room for a process or descriptor.
  Status start(uint32_t count, const LocalWorkerOptions& options);

  // How a worker ended.
  struct End {
    std::string how;          // "worker 2 was killed by signal 9 (SIGKILL)"
    bool was_killed = false;  // by a signal
    int64_t at = 0;           // when that was seen, by net::now_ms()
  };

  size_t size() const { return workers_.size(); }
  // Adds, for each worker whose end was not seen, what tells of it.
  void add_to(net::Poller& poller) const;
  // The end of a worker, if it has ended or does so within that time; else
  // null. Valid until the next start().
  const End* see_end(size_t worker, int milliseconds);
  // Kills with SIGKILL; the end is still to be seen.
  void kill(size_t worker);
  void kill_all();
  // Waits until all have ended, at most that long in all, and kills those that
  // have not by then. Less than 0: without limit.
  void wait_all(int milliseconds);

 private:
  struct Worker {
    pid_t pid = -1;  // -1: its end was seen
    int pidfd = -1;  // -1: the same, or the system has no pidfds
    std::optional<End> end;
  };
  void take_end(size_t worker);
  std::vector<Worker> workers_;
};

}  // namespace gt::route
