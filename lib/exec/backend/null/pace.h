// The clock of one part of an imagined machine, its processor or its link,
// which does one piece of work after the other; each piece takes its time.
//
// A thread that sleeps until a moment wakes up late, by 50 us and more, and on
// a busy host messages come late. So a piece of work begins when the machine
// would begin it, which is when the piece before it and all that it reads would
// be done there, however late the thread comes to it; then it is slept through
// for so much less. What comes late is made up for, and nothing adds up from
// line to line or from worker to worker.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace gt::exec {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Pace(Clock::time_point now) : done_(now) {}

  // What comes from now on begins at this time or later.
  void begin_at(Clock::time_point time) { done_ = std::max(done_, time); }
  // Returns when all work that came is done.
  Clock::time_point done_at() const { return done_; }

  // Adds a piece of work of `seconds` seconds. Returns the moment until which
  // to sleep, or none if that is too near to be worth a sleep, or past.
  std::optional<Clock::time_point> work(double seconds, Clock::time_point now);
  // Does the same and sleeps.
  void spend(double seconds);

 private:
  // Shorter sleeps are put off until they add up to more than this.
  static constexpr std::chrono::microseconds kLeastSleep{100};

  // The part is done within 30 years, which a time_point holds.
  static constexpr std::chrono::seconds kLongest{1'000'000'000};

  Clock::time_point done_;
};

}  // namespace gt::exec
