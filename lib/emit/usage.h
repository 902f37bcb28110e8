// Counts what a program has cost so far and what its names hold, for a gt-emit
// that serves clients (lib/serve). Nothing is counted for other programs.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace gt::emit {

class Operands;
struct Ledger;
struct LineState;

// The most that the names of a program may hold at once.
struct Quota {
  // Of values, summed over all ranks, and of what names and lines of history
  // take in the programs themselves.
  uint64_t bytes = UINT64_MAX;
  uint64_t names = UINT64_MAX;  // a name with ranks, x@0-3, is one
};

// What a name takes in gt-emit, gt-route and a worker beside its value, and
// what a line of history takes in gt-emit, in bytes, as measured.
inline constexpr uint64_t kBytesOfName = 512;
inline constexpr uint64_t kBytesOfHistory = 320;

struct Usage {
  bool counts = false;
  Quota quota;
  // The cost of all lines that were written, in nanoseconds of one worker, by
  // the op table (program/costs.h).
  uint64_t cost = 0;
  // The bytes of the values that live names hold, and the number of these
  // names.
  uint64_t bytes = 0;
  uint64_t names = 0;
};

// Returns the bytes that so many bytes of values, names and lines of history
// take in all.
inline uint64_t bytes_in_all(uint64_t bytes, uint64_t names, uint64_t lines) {
  return bytes + names * kBytesOfName + lines * kBytesOfHistory;
}

// Returns false if the name is not bound, and the quota has no room for another
// one.
bool has_room_for(const Ledger& ledger, std::string_view name);

// Adds the line to what its program has used. It sets the line's cost, and the
// bytes of its results. Error: the names of the program would hold more than
// its quota.
Status count_usage(Ledger& ledger, const Operands& operands, LineState& state);

}  // namespace gt::emit
