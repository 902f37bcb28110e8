// Two clocks. The wall clock tells the time of day, counted from 1970, and
// jumps when the system's clock is set. The steady clock never jumps and is the
// same for all processes of a host, so it measures how long something takes.
#pragma once

#include <cstdint>
#include <ctime>

namespace gt {

inline int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline int64_t wall_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

inline uint64_t wall_us() { return static_cast<uint64_t>(wall_ns()) / 1000; }

inline int64_t steady_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return nanoseconds(now);
}

// Returns what is added to a time of the steady clock to have that of the wall
// clock, which other hosts have, too.
inline uint64_t steady_to_wall() {
  return static_cast<uint64_t>(wall_ns() - steady_ns());
}

}  // namespace gt
