#include "exec/backend/null/pace.h"

#include <thread>

namespace gt::exec {

std::optional<Pace::Clock::time_point> Pace::work(double seconds,
                                                  Clock::time_point now) {
  const std::chrono::duration<double> work(seconds);
  const Clock::time_point most = now + kLongest;
  done_ =
      work < kLongest
          ? std::min(done_ + std::chrono::duration_cast<Clock::duration>(work),
                     most)
          : most;
  if (done_ - now < kLeastSleep) return std::nullopt;
  return done_;
}

void Pace::spend(double seconds) {
  if (const auto until = work(seconds, Clock::now())) {
    std::this_thread::sleep_until(*until);
  }
}

}  // namespace gt::exec
