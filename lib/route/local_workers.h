// LocalWorkers: the workers that gt-route starts on its own host. They are
// processes of gt-work, which connect to gt-route as those of other hosts do.
// None outlives gt-route: each asks the system to be killed when its parent
// ends. gt-route learns of the end of a worker from a pidfd, a descriptor of
// the process that is readable then.
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
  std::string endpoint;  // the endpoint that they connect to
  // The word that admits them. They get it in the environment as GT_TOKEN,
  // since arguments can be read by other users.
  std::string token;
  std::vector<std::string> arguments;  // more arguments for each worker
};

// Returns how many devices of that backend this host has, as gt-work
// --list-devices says; 0 if gt-work has said on standard error why there are
// none. Error: gt-work cannot be started.
Result<uint32_t> count_devices(const std::string& backend);

class LocalWorkers {
 public:
  LocalWorkers() = default;
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;
  ~LocalWorkers();  // kills what still runs

  // Starts `count` processes, with worker numbers from 0. Their program is the
  // gt-work beside this program, or else the one in PATH. Does not wait until
  // they run: if gt-work was not found, the processes end. Error: the system
  // has no room for a process or descriptor.
  Status start(uint32_t count, const LocalWorkerOptions& options);

  // How a worker ended.
  struct End {
    std::string how;          // "worker 2 was killed by signal 9 (SIGKILL)"
    bool was_killed = false;  // killed by a signal
    int status = 0;           // the exit status, unless it was killed
    int64_t at = 0;           // when the end was seen, by net::now_ms()
  };

  size_t size() const { return workers_.size(); }
  // Adds the pidfd of each worker whose end was not seen.
  void add_to(net::Poller& poller) const;
  // Returns the end of a worker, if it has ended or does so within that time;
  // else null. Valid until the next start().
  const End* see_end(size_t worker, int milliseconds);
  // Kills the process with SIGKILL. Its end is still to be seen.
  void kill(size_t worker);
  void kill_all();
  // Waits until all processes have ended, at most that long in all, and kills
  // those that have not ended by then. If the time is less than 0, it is
  // unlimited.
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
