#include "exec/trace/meter.h"

#include <algorithm>
#include <string>

#include "base/process_use.h"
#include "ops/table.h"

namespace gt::exec {

Meter::Meter() : op_count_(all_rows().size()) {
  ops_ = std::make_unique<OpCounts[]>(op_count_);
}

void Meter::watch(bool is_on) {
  if (is_on && !ticks_) ticks_.emplace();
  is_on_.store(is_on, std::memory_order_release);
}

// ---- pauses -----------------------------------------------------------------

// A sequence lock without fences, which the thread sanitizer does not know:
// what it guards is stored with release, so that no store comes before that of
// the odd turn, and loaded with acquire, so that the turn is read again after
// (Boehm, Can seqlocks get along with programming language memory models?,
// 2012).

void Meter::pause(Pause why) {
  bump(turn_, 1);
  why_.store(why, std::memory_order_release);
  since_.store(now(), std::memory_order_release);
  turn_.store(turn_.load(std::memory_order_relaxed) + 1,
              std::memory_order_release);
}

void Meter::resume() {
  bump(turn_, 1);
  Counter& paused =
      paused_[static_cast<size_t>(why_.load(std::memory_order_relaxed))];
  const uint64_t took = now() - since_.load(std::memory_order_relaxed);
  paused.store(paused.load(std::memory_order_relaxed) + took,
               std::memory_order_release);
  since_.store(0, std::memory_order_release);
  turn_.store(turn_.load(std::memory_order_relaxed) + 1,
              std::memory_order_release);
}

std::array<uint64_t, 2> Meter::paused(uint64_t now) const {
  for (;;) {
    const uint64_t turn = turn_.load(std::memory_order_acquire);
    std::array<uint64_t, 2> out{paused_[0].load(std::memory_order_acquire),
                                paused_[1].load(std::memory_order_acquire)};
    const uint64_t since = since_.load(std::memory_order_acquire);
    const auto why = static_cast<size_t>(why_.load(std::memory_order_acquire));
    if (turn % 2 != 0 || turn_.load(std::memory_order_relaxed) != turn)
      continue;
    if (since != 0 && now > since) out[why] += now - since;
    return out;
  }
}

// ---- exchanges --------------------------------------------------------------

void Meter::exchanged(std::string_view name, uint64_t ns, uint64_t in,
                      uint64_t out) {
  bump(exchanges_, 1);
  bump(exchanging_, ns);
  bump(in_, in);
  bump(out_, out);
  if (!is_on()) return;
  const Op* op = name.empty() ? nullptr : find_op(name);
  if (op == nullptr) return;  // a fence
  bump(ops_[op->id].exchanges, 1);
  bump(ops_[op->id].exchanging, ns);
}

// ---- the sum ----------------------------------------------------------------

net::Used Meter::used() {
  net::Used used;
  const uint64_t at = now();
  const auto [idle, waited] = paused(at);
  used.time = at - began_;
  used.waited = waited;
  // Clocks of threads may differ by a little, and nothing goes back.
  const uint64_t still = std::min(used.time, idle + waited);
  busy_told_ = std::max(busy_told_, used.time - still);
  used.busy = busy_told_;
  used.lines = lines_.load();
  used.memory = memory_.load();
  used.peak = peak_.load();
  used.in = in_.load();
  used.out = out_.load();
  used.exchanges = exchanges_.load();
  used.exchanging = exchanging_.load();
  const ProcessUse process = process_use();
  used.cpu = process.cpu_ns;
  used.resident = process.resident;
  for (size_t id = 0; id < op_count_; ++id) {
    const OpCounts& op = ops_[id];
    const uint64_t count = op.count.load() + op.exchanges.load();
    if (count == 0) continue;
    used.ops.push_back(
        {op_at(id).name, count, op.ns.load() + op.exchanging.load()});
  }
  return used;
}

}  // namespace gt::exec
