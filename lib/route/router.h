// gt-route: one thread that reads the stream, talks to the workers and writes
// the results. It waits for all of them together and for none alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "net/gatekeeper.h"
#include "net/keys.h"

namespace gt::route {

// What becomes of a run that loses a worker.
enum class OnLoss {
  kEndRun,  // all other workers end too, and all that is owed fails
  kGoOn     // what needs the worker fails, and nothing else
};

struct RouterOptions {
  std::vector<std::string> files{"-"};
  uint32_t workers = 1;
  std::string bind;  // where workers attach; "": those that we start
  std::optional<net::Keys>
      keys;  // of connections; then those alone attach whose
  net::Gatekeeper::Admits admits;  // public key is admitted
  bool anyone = false;  // without keys: who reaches `bind` may attach
  std::vector<std::string> worker_arguments;  // of those that we start
  bool traces = false;     // those that we start write a trace
  int timeout = 60;        // seconds until all workers must be there
  int64_t silence = 1500;  // milliseconds, after which a worker is lost
  int log_fd = -1;         // where to write the log of the run
  bool fail_fast = false;
  OnLoss on_loss = OnLoss::kEndRun;
  bool hot = true;  // a block that a worker was sent before goes as its number
  int verbose = 0;
  // Who attaches and what was done; a text without a newline at its end is
  // replaced by the next.
  std::function<void(std::string_view)> tell = [](std::string_view) {};
};

// The largest status of lines, workers and the stages before; results go to
// standard output. `say` gets what went wrong, in whole messages.
Exit run_router(const RouterOptions& options,
                const std::function<void(std::string_view)>& say);

}  // namespace gt::route
