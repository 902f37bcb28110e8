// Estimates what lines cost, in nanoseconds on one worker, from the operations
// and bytes that the op table gives. The estimates serve to place lines without
// ranks and to compare loads. They do not predict times.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/call.h"

namespace gt {

// Roughly the bytes that one element takes in a result line.
inline constexpr uint64_t kPrintedBytes = 12;

// Returns the nanoseconds of a call that a worker runs `times` times, for
// several of its ranks.
inline uint64_t line_cost(const Call& call, double times = 1) {
  constexpr double kLineCost = 100;
  constexpr double kMost = 1e12;
  const double one = kLineCost + estimate(flops(call), bytes(call));
  return static_cast<uint64_t>(std::min(one * times, kMost));
}

// The nanoseconds that it takes to write one number, or `elements` numbers, as
// text.
inline constexpr uint64_t kNumberCost = 25;
inline uint64_t print_cost(size_t elements) { return kNumberCost * elements; }

// The nanoseconds that a copy from worker to worker takes: kCopyCost to wake
// the reader, and the time to move the bytes at 2 GB/s.
inline constexpr uint64_t kCopyCost = 50'000;
inline uint64_t copy_cost(uint64_t bytes) { return kCopyCost + bytes / 2; }

}  // namespace gt
