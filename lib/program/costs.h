// What lines cost: estimates in nanoseconds on one worker, from the operations
// and bytes that the op table tells. They serve to place lines without ranks
// and to compare loads, and predict no times.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/call.h"

namespace gt {

// Roughly the bytes of an element in a result line.
inline constexpr uint64_t kPrintedBytes = 12;

// Nanoseconds of a call that a worker runs `times` over, for several of its
// ranks.
inline uint64_t line_cost(const Call& call, double times = 1) {
  constexpr double kLineCost = 100;
  constexpr double kMost = 1e12;
  const double one = kLineCost + estimate(flops(call), bytes(call));
  return static_cast<uint64_t>(std::min(one * times, kMost));
}

// Nanoseconds that it takes to write so many numbers as text.
inline constexpr uint64_t kNumberCost = 25;
inline uint64_t print_cost(size_t elements) { return kNumberCost * elements; }

// Nanoseconds that a copy from worker to worker takes: to wake the reader, and
// to move the bytes at 2 GB/s.
inline constexpr uint64_t kCopyCost = 50'000;
inline uint64_t copy_cost(uint64_t bytes) { return kCopyCost + bytes / 2; }

}  // namespace gt
