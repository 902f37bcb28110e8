// What a worker has used so far, for those who watch the run (net/used.h). Each
// thread notes its own part, and any may read the sum.
//
// When compute stands still is always noted: two looks at a clock each time
// that its thread sleeps, which takes a thousand times as long. What each op
// takes is noted only while somebody watches, since that is two looks at a
// clock an instruction; of instructions that take not much longer than these,
// one in kSample is timed, chosen at random, and counts for kSample.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

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
  // From now on the time of each op is noted, or no longer.
  void watch(bool is_on);
  net::Used used();

  // ---- the thread of the compute queue
  bool is_on() const { return is_on_.load(std::memory_order_acquire); }
  // Compute stands still: there is nothing to do, or it waits for others.
  enum class Pause : uint8_t { kIdle, kWaits };
  void pause(Pause why);
  void resume();
  // Only while is_on(): an op begins whose cost is estimated so, in
  // nanoseconds. False: it is not timed, and count() is to be called, not
  // end().
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
  // An exchange of that op ("": of none) has run: how long it took, and what it
  // read of other workers and they could read of this one, in bytes.
  void exchanged(std::string_view op, uint64_t ns, uint64_t in, uint64_t out);

  // ---- the thread that decodes
  // Instructions so far, bytes that values take now, and the most they took.
  void note(uint64_t lines, size_t memory, size_t peak) {
    lines_.store(lines, std::memory_order_relaxed);
    memory_.store(memory, std::memory_order_relaxed);
    peak_.store(peak, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kShort = 2000;  // nanoseconds
  static constexpr uint64_t kSample = 16;

  using Counter = std::atomic<uint64_t>;
  // Of an op: of compute, and of exchanges, whose thread is another.
  struct OpCounts {
    Counter count{0};
    Counter ns{0};
    Counter exchanges{0};
    Counter exchanging{0};
  };

  // Each counter is written by one thread.
  static void bump(Counter& counter, uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by,
                  std::memory_order_relaxed);
  }
  static uint64_t now() {
    const auto at = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::nanoseconds(at).count());
  }
  // How long compute has stood still for each reason, up to `now`.
  std::array<uint64_t, 2> paused(uint64_t now) const;

  const uint64_t began_ = now();
  std::atomic<bool> is_on_{false};
  std::optional<Ticks> ticks_;  // once it was on
  uint64_t start_ = 0;          // of the op that runs
  uint64_t weight_ = 1;         // and what its time counts
  uint64_t untimed_ = 1;        // short ops until the next that is timed
  uint64_t random_ = 1;

  // Pauses that are over, and the one that is not. Whoever reads them reads
  // again if `turn_` is odd or has changed.
  Counter turn_{0};
  std::array<Counter, 2> paused_{};
  Counter since_{0};  // 0: compute runs
  std::atomic<Pause> why_{Pause::kIdle};

  Counter lines_{0};
  Counter exchanges_{0};
  Counter exchanging_{0};
  Counter in_{0};
  Counter out_{0};
  Counter memory_{0};
  Counter peak_{0};
  std::unique_ptr<OpCounts[]> ops_;  // by id
  size_t op_count_;
  uint64_t busy_told_ = 0;  // by used()
};

}  // namespace gt::exec
