// The state of a run, as those who watch it are told: records (net/record.h),
// one a line, which gt-wire(7) lists. Numbers that count only grow, and viewers
// make rates of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "route/client.h"
#include "route/crew.h"
#include "route/dispatcher.h"

namespace gt::route {

struct StateOptions {
  // With more records of ops than that, these are summed over the workers.
  static constexpr size_t kMostOps = 4096;

  int64_t uptime_ms = 0;
  std::string file;  // the input
  size_t watchers = 0;
  uint64_t written = 0;          // bytes of results that left
  bool has_ended = false;        // the input has
  std::optional<uint32_t> full;  // as RouterLoop::who_is_full()
  int64_t full_ms = 0;           // for so long
};

std::string state_text(const Client& client, const Dispatcher& dispatcher,
                       const Crew& crew, const StateOptions& more);

}  // namespace gt::route
