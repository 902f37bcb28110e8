// A worker of gt-route from attach to leave: instructions come in messages;
// results, reports and progress go back. The caller's thread talks to gt-route,
// so that it is answered however long an instruction takes; one decodes what
// came; the queues compute and exchange.
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
  std::optional<uint32_t> rank;   // the number among the workers that is wanted
  std::optional<net::Keys> keys;  // its own, and the public one of gt-route
  std::string route_key;
  bool anyone = false;  // without keys: others than our user may take part
  std::string token;    // not empty: a local worker, admitted by its parent
  std::chrono::milliseconds patience{60'000};  // for gt-route and for peers
  int64_t silence = 1500;  // of gt-route, in milliseconds: it is lost
  int threads = 1;         // of compute
  std::string isa;
  std::string backend;
  // Called when gt-route is gone and what computes has not ended with its
  // instruction soon after: ends the process, with Exit::kLost.
  std::function<void()> end_process;
};

// Attaches, works until gt-route has no more, and leaves. SIGTERM drains: what
// came is done first. Why it ends before its time goes to `say`. The largest
// status of the lines; Exit::kLost when gt-route or a peer cannot be reached or
// is gone.
Exit run_remote_session(const RemoteOptions& options, Files files,
                        const WorkerOptions& worker,
                        const std::function<void(std::string_view)>& say);

}  // namespace gt::exec
