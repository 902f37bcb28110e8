// Runs a worker that is attached to a gt-route, from its hello to its bye.
// Instructions come in messages (net/wire.h); results, reports and progress go
// back. The caller's thread talks to gt-route, so that it answers however long
// an instruction takes. A second thread decodes the lines; two more compute,
// and exchange values with other workers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "exec/backend/backend.h"
#include "exec/memory/arena.h"
#include "exec/worker/worker.h"
#include "net/keys.h"

namespace gt::exec {

// Options of a worker that attaches to a gt-route.
struct RemoteOptions {
  std::string endpoint;          // gt-route's
  std::string name;              // shown to people; "" for host and process id
  std::optional<uint32_t> rank;  // the worker number to ask for (--rank)
  net::Trust trust;              // gt-route tells the keys of the other workers
  // Not empty for a local worker, which its parent started and admits.
  std::string token;
  // How long gt-route may be silent before its welcome, or another worker give
  // no sign of life, before it counts as lost.
  std::chrono::milliseconds patience{60'000};
  bool has_fast_sums = false;  // comm::GroupOptions::has_fast_sums
  // Once attached: milliseconds without a sign of gt-route after which it is
  // lost.
  int64_t silence = 1500;
  int threads = 1;  // threads that compute
  std::string isa;
  std::string backend;
  // Which of the backend's devices to use; none: the backend chooses.
  std::optional<unsigned> device;
  std::optional<Machine> pace;  // BackendOptions::pace
  // Must end the process with Exit::kLost. Called when gt-route is gone and the
  // running instruction does not end soon after.
  std::function<void()> end_process;
};

// Attaches, works until gt-route has no more lines, and leaves. On SIGTERM it
// leaves once it has run the lines that had come. The reason for leaving early
// is passed to `say`. Returns the largest status of the lines, Exit::kLost if
// gt-route or a peer cannot be reached or is lost, Exit::kUsage if the endpoint
// or the backend is unusable, or Exit::kInterrupted if a signal came before the
// welcome.
Exit run_remote_session(const RemoteOptions& options, Files files,
                        const WorkerOptions& worker,
                        const std::function<void(std::string_view)>& say);

}  // namespace gt::exec
