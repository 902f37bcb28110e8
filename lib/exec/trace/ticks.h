// The cheapest clock there is. Where the processor's counter runs at one speed
// on all cores it is that, a read of which was measured at 9 ns; elsewhere the
// system's clock, at 21 ns. It counts nanoseconds since it was made, or since a
// moment before.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace gt::exec {

class Ticks {
 public:
  // Takes a millisecond, to learn the counter's speed. `since`, by the system's
  // steady clock, is when time begins.
  explicit Ticks(std::optional<uint64_t> since = {})
      : is_counter_(has_counter()) {
    if (!is_counter_) speed_ = 1;
    base_ = ticks();
    start_nanos_ = system_nanos();
    if (since && *since < start_nanos_) offset_ = start_nanos_ - *since;
    while (is_counter_ && system_nanos() - start_nanos_ < 1'000'000) {
    }
    adjust();
  }

  uint64_t nanos() const { return nanos_at(ticks()) + offset_; }
  // The time of the system's steady clock; any thread.
  static uint64_t system_nanos() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(now.tv_nsec);
  }
  // A time of the system's steady clock as one of these; any thread.
  uint64_t since_start(uint64_t steady) const {
    const uint64_t begin = start_nanos_ - offset_;
    return steady > begin ? steady - begin : 0;
  }

  // Corrects what drift there is; no time asked for later is before one asked
  // for until now.
  void adjust() {
    const uint64_t now = ticks();
    const uint64_t since = system_nanos() - start_nanos_;
    const uint64_t before = nanos_at(now);
    elapsed_ += now - base_;
    if (is_counter_ && elapsed_ > 0) {
      speed_ = static_cast<double>(since) / static_cast<double>(elapsed_);
    }
    base_ = now;
    base_nanos_ = before > since ? before : since;
  }

 private:
  uint64_t ticks() const {
#if defined(__x86_64__)
    if (is_counter_) return __rdtsc();
#endif
    return system_nanos();
  }
  uint64_t nanos_at(uint64_t ticks) const {
    // Cores may differ by a little, so it may be before the base.
    const auto since = static_cast<double>(static_cast<int64_t>(ticks - base_));
    return base_nanos_ +
           static_cast<uint64_t>(static_cast<int64_t>(since * speed_));
  }
  static bool has_counter() {
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 0x100) != 0;
#else
    return false;
#endif
  }

  bool is_counter_;
  double speed_ = 0;         // nanoseconds a tick
  uint64_t base_ = 0;        // ticks when adjust() was last called
  uint64_t base_nanos_ = 0;  // and nanoseconds
  uint64_t elapsed_ = 0;     // ticks from the start to then
  uint64_t start_nanos_ = 0;
  uint64_t offset_ = 0;  // from when time begins until then
};

}  // namespace gt::exec
