// What a program has cost so far and what its names hold, for a gt-emit that
// serves guests (lib/serve). Of a program of one's own nothing is counted.
#pragma once

#include <cstdint>

namespace gt::emit {

// What the names of a program may hold at once.
struct Quota {
  uint64_t bytes = UINT64_MAX;  // of values, those of all ranks together
  uint64_t names = UINT64_MAX;  // a name with ranks, x@0-3, is one
};

struct Usage {
  bool counts = false;
  Quota quota;
  // Nanoseconds of one worker, by the op table (program/costs.h), of all lines
  // that were written.
  uint64_t cost = 0;
  // Of the live names: the bytes of their values, and how many they are.
  uint64_t bytes = 0;
  uint64_t names = 0;
};

}  // namespace gt::emit
