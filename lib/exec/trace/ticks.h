// Ticks is the cheapest clock there is. It reads the processor's time stamp
// counter where that runs at one speed on all cores (a read was measured at 9
// ns), and else the system's clock (21 ns). It counts nanoseconds since it was
// made, or since an earlier moment that is passed in.
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
  // Takes a millisecond, to learn the counter's speed. Time 0 is `since`, in
  // nanoseconds of the system's steady clock, or now if `since` is empty or
  // later than now.
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
  // Returns the time of the system's steady clock in nanoseconds. Any thread
  // may call it.
  static uint64_t system_nanos() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(now.tv_nsec);
  }
  // Converts a time of the system's steady clock to this clock's time; 0 if it
  // is earlier than time 0. Any thread may call it.
  uint64_t since_start(uint64_t steady) const {
    const uint64_t begin = start_nanos_ - offset_;
    return steady > begin ? steady - begin : 0;
  }

  // Corrects the clock's drift against the system's clock. Times still never go
  // backwards: a time asked for later is not before one asked for earlier.
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
    // The difference is signed: the counters of two cores may differ by a
    // little, so `ticks` may be before the base.
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
  double speed_ = 0;         // nanoseconds per tick
  uint64_t base_ = 0;        // ticks when adjust() was last called
  uint64_t base_nanos_ = 0;  // nanoseconds at that time
  uint64_t elapsed_ = 0;     // ticks from the start to that time
  uint64_t start_nanos_ = 0;
  uint64_t offset_ = 0;  // nanoseconds from time 0 to the start
};

}  // namespace gt::exec
