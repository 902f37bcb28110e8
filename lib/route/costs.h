// What lines cost, roughly, for placing them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/call.h"

namespace gt::route {

inline constexpr uint64_t kPrintedBytes = 12;  // of an element

// Nanoseconds of a call, `times` over, on one worker.
inline uint64_t line_cost(const Call& call, double times = 1) {
  constexpr double kLineCost = 100;
  constexpr double kMost = 1e12;
  const double one = kLineCost + estimate(flops(call), bytes(call));
  return static_cast<uint64_t>(std::min(one * times, kMost));
}

// What a copy between two workers takes, in nanoseconds: waking the reader, and
// its bytes.
inline constexpr uint64_t kCopyCost = 50'000;
inline uint64_t copy_cost(uint64_t bytes) { return kCopyCost + bytes / 2; }

}  // namespace gt::route
