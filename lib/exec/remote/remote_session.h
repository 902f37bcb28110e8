// A worker that is attached to a gt-route, from its hello to its bye:
// instructions come in messages (net/wire.h); results, reports and progress go
// back. The caller's thread talks to gt-route, so that this is answered however
// long an instruction takes; a second thread decodes what came; two more
// compute and exchange values with other workers.
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

struct RemoteOptions {
  std::string endpoint;           // of gt-route
  std::string name;               // for people; "": host and process
  std::optional<uint32_t> rank;   // the worker number that is wanted, as --rank
  std::optional<net::Keys> keys;  // its own, and the public one of gt-route
  std::string route_key;
  bool anyone = false;  // without keys: others than our user may take part
  std::string token;    // not empty: a local worker, admitted by its parent
  // Without any word of gt-route before its welcome, or any sign of another
  // worker: then that one is lost.
  std::chrono::milliseconds patience{60'000};
  bool has_fast_sums = false;  // as comm::GroupOptions
  // Milliseconds without a sign of gt-route, once attached: then it is lost.
  int64_t silence = 1500;
  int threads = 1;  // of compute
  std::string isa;
  std::string backend;
  std::optional<unsigned> device;  // of the backend's; none: it chooses
  std::optional<Machine> pace;     // as BackendOptions::pace
  // Called when gt-route is gone and the instruction that was running has not
  // come to its end soon after: is to end the process, with Exit::kLost.
  std::function<void()> end_process;
};

// Attaches, works until gt-route has no more, and leaves. On SIGTERM it leaves,
// too, once it has run what had come. Why it ends before its time goes to
// `say`. Returns the largest status of the lines; Exit::kLost when gt-route or
// a peer cannot be reached or is gone.
Exit run_remote_session(const RemoteOptions& options, Files files,
                        const WorkerOptions& worker,
                        const std::function<void(std::string_view)>& say);

}  // namespace gt::exec
