// The state of a run as text, for those who watch it: records (net/record.h),
// one to a line, which gt-wire(7) lists. Counts only grow, and viewers compute
// rates from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "route/client.h"
#include "route/dispatcher.h"
#include "route/worker_pool.h"

namespace gt::route {

struct StateOptions {
  // With more records of ops than this, the ops are summed over the workers.
  static constexpr size_t kMostOps = 4096;

  int64_t uptime_ms = 0;
  std::string file;  // the input
  size_t watchers = 0;
  uint64_t written = 0;          // bytes of results that have left
  bool has_ended = false;        // the input has ended
  std::optional<uint32_t> full;  // see RouterLoop::who_is_full()
  int64_t full_ms = 0;           // for how long it has been full
};

std::string state_text(const Client& client, const Dispatcher& dispatcher,
                       const WorkerPool& pool, const StateOptions& more);

}  // namespace gt::route
