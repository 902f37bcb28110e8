// A clock of a machine that is only imagined: one part of it, its processor or
// its link, does one piece of work after the other, and each takes its time.
//
// Who sleeps until a moment wakes up late, by 50 us and more. So a piece of
// work begins when the one before it was to end, not when the sleeper woke up,
// and lateness does not add up. Only if the part had nothing to do in between
// does the next piece begin when it comes.
#pragma once

#include <chrono>
#include <optional>

namespace gt::exec {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // The part does a piece of work of so many seconds, which comes now. Returns
  // the moment until which to sleep, none if that is too near to be worth a
  // sleep. To be followed by woke() once that moment has come.
  std::optional<Clock::time_point> work(double seconds, Clock::time_point now);
  void woke(Clock::time_point now) { last_ = now; }

  // The same, asleep meanwhile.
  void spend(double seconds);

 private:
  // Sleeps that are shorter are put off until they add up to more.
  static constexpr std::chrono::microseconds kLeastSleep{100};
  // Work that comes later than this after the last has kept the part waiting.
  static constexpr std::chrono::microseconds kLeastGap{200};

  Clock::time_point free_{};  // when the part is done with all that came
  Clock::time_point last_{};  // when the thread went on after that
};

}  // namespace gt::exec
