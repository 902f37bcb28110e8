#include "exec/backend/null/pace.h"

#include <algorithm>
#include <thread>

namespace gt::exec {

std::optional<Pace::Clock::time_point> Pace::work(double seconds,
                                                  Clock::time_point now) {
  if (now - last_ > kLeastGap) free_ = std::max(free_, now);
  const std::chrono::duration<double> work(seconds);
  free_ = work < kLongest
              ? free_ + std::chrono::duration_cast<Clock::duration>(work)
              : now + kLongest;
  free_ = std::min(free_, now + kLongest);
  last_ = now;
  if (free_ - now < kLeastSleep) return std::nullopt;
  return free_;
}

void Pace::spend(double seconds) {
  const auto until = work(seconds, Clock::now());
  if (!until) return;
  std::this_thread::sleep_until(*until);
  woke(Clock::now());
}

}  // namespace gt::exec
