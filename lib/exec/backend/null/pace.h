// The clock of one part of an imagined machine, its processor or its link,
// which does one piece of work after the other; each piece takes its time.
//
// A thread that sleeps until a moment wakes up late, by 50 us and more. So a
// piece of work begins when the one before it was to end, not when the sleeper
// woke up, and lateness does not add up. Only if the part was idle in between
// does the next piece begin when it arrives.
#pragma once

#include <chrono>
#include <optional>

namespace gt::exec {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // Adds a piece of work of `seconds` seconds, which arrives at `now`. Returns
  // the moment until which to sleep, or none if that is too near to be worth a
  // sleep. After sleeping, the caller must call woke().
  std::optional<Clock::time_point> work(double seconds, Clock::time_point now);
  void woke(Clock::time_point now) { last_ = now; }

  // Does the same and sleeps.
  void spend(double seconds);

 private:
  // Shorter sleeps are put off until they add up to more than this.
  static constexpr std::chrono::microseconds kLeastSleep{100};
  // If work arrives later than this after the last, the part was idle in
  // between.
  static constexpr std::chrono::microseconds kLeastGap{200};

  // The part is done within 30 years, which a time_point holds.
  static constexpr std::chrono::seconds kLongest{1'000'000'000};

  Clock::time_point free_{};  // when the part has done all work that arrived
  Clock::time_point last_{};  // when work() or woke() was called last
};

}  // namespace gt::exec
