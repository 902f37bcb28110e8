// Meter counts what a worker has used so far, for those who watch the run
// (net/used.h). Each thread counts its own part, and any thread may read the
// sum.
//
// The time in which compute stands still is always counted: that takes two
// clock reads each time its thread sleeps, and a sleep takes a thousand times
// as long. The time of each op is counted only while somebody watches, since
// that takes two clock reads an instruction. Of the instructions that take not
// much longer than these reads, one in kSample is timed, chosen at random, and
// its time counts kSample times.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "exec/trace/ticks.h"
#include "net/used.h"
#include "ops/op.h"

namespace gt::exec {

class Meter {
 public:
  Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // ---- the thread that talks to gt-route, or one at a time
  // Switches the timing of ops on or off.
  void watch(bool is_on);
  // Returns the totals so far.
  net::Used used();

  // ---- the thread of the compute queue
  bool is_on() const { return is_on_.load(std::memory_order_acquire); }
  // Why compute stands still: there is nothing to do, or it waits for other
  // workers.
  enum class Pause : uint8_t { kIdle, kWaits };
  void pause(Pause why);
  void resume();
  // Starts timing an op, only while is_on(). `cost` is its estimated cost in
  // nanoseconds. False if this op is not timed: then the caller calls count()
  // instead of end().
  bool begin(uint64_t cost) {
    weight_ = 1;
    if (cost < kShort) {
      if (--untimed_ > 0) return false;
      random_ = random_ * 6364136223846793005U + 1442695040888963407U;
      untimed_ = 1 + (random_ >> 33) % (2 * kSample - 1);
      weight_ = kSample;
    }
    start_ = ticks_->nanos();
    return true;
  }
  void count(const Op& op) { bump(ops_[op.id].count, 1); }
  void end(const Op& op) {
    bump(ops_[op.id].ns, weight_ * (ticks_->nanos() - start_));
    count(op);
  }

  // ---- the communication thread
  // Counts an exchange that took `ns` nanoseconds, read `in` bytes of other
  // workers, and had `out` bytes for them to read. It counts in the totals and,
  // if `op` is the name of an op (and not "fence"), in those of the op.
  void exchanged(std::string_view op, uint64_t ns, uint64_t in, uint64_t out);

  // ---- the thread that decodes
  // Sets the instructions decoded so far, the bytes that values take now, and
  // the most bytes that they took.
  void note(uint64_t lines, size_t memory, size_t peak) {
    lines_.store(lines, std::memory_order_relaxed);
    memory_.store(memory, std::memory_order_relaxed);
    peak_.store(peak, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kShort = 2000;  // nanoseconds
  static constexpr uint64_t kSample = 16;

  using Counter = std::atomic<uint64_t>;
  // The counts of one op. Compute writes the first two, the communication
  // thread the last two.
  struct OpCounts {
    Counter count{0};
    Counter ns{0};
    Counter exchanges{0};
    Counter exchanging{0};
  };

  // Adds to a counter without a locked instruction, since only one thread
  // writes it.
  static void bump(Counter& counter, uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by,
                  std::memory_order_relaxed);
  }
  static uint64_t now() { return static_cast<uint64_t>(steady_ns()); }
  // Returns how long compute has stood still for each reason (Pause), in
  // nanoseconds, up to `now`.
  std::array<uint64_t, 2> paused(uint64_t now) const;

  const uint64_t began_ = now();
  std::atomic<bool> is_on_{false};
  std::optional<Ticks> ticks_;  // made when the meter is first switched on
  uint64_t start_ = 0;          // of the op being timed
  uint64_t weight_ = 1;         // how often that op's time counts
  uint64_t untimed_ = 1;        // short ops until the next one that is timed
  uint64_t random_ = 1;

  // The lengths of past pauses, and the pause under way. `turn_` is odd while
  // they are being written: a reader reads again if `turn_` is odd or has
  // changed meanwhile.
  Counter turn_{0};
  std::array<Counter, 2> paused_{};
  Counter since_{0};  // start of the pause; 0: compute runs
  std::atomic<Pause> why_{Pause::kIdle};

  Counter lines_{0};
  Counter exchanges_{0};
  Counter exchanging_{0};
  Counter in_{0};
  Counter out_{0};
  Counter memory_{0};
  Counter peak_{0};
  std::unique_ptr<OpCounts[]> ops_;  // by op id
  size_t op_count_;
  uint64_t busy_told_ = 0;  // the largest busy time that used() returned
};

}  // namespace gt::exec
