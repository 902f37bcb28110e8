#include "exec/backend/cpu/tiled.h"

#include <algorithm>
#include <vector>

#include "exec/backend/cpu/parallel.h"

namespace gt::exec::cpu {
namespace {

// A chain of cheap kernels takes the same time with 256 to 2,048 elements, but
// for what is done once for each tile.
constexpr int64_t kFusedTile = 1024;
constexpr size_t kMostSlots = 8;  // most tiles that are held, which fit into L1

// Runs several kernels tile by tile: all of them on one tile, then on the next.
// So what they make of each other stays in the nearest cache, and goes to
// memory only if a later line reads it.
class FusedTiles final : public Kernel {
 public:
  FusedTiles(std::span<const FusedStep> steps, int threads)
      : n_(steps[0].kernel->fusible_elements()), threads_(threads) {
    double cost = 0;
    for (const FusedStep& step : steps) {
      const auto* kernel = static_cast<const Tiled*>(step.kernel);
      steps_.push_back({kernel, step.in, step.out, {}, {}, {}});
      cost += 1 / static_cast<double>(kernel->least());
    }
    least_ = std::max(kFusedTile, static_cast<int64_t>(1 / cost));
    place_results();
  }

  // How many slots a tile takes for results that are not written to memory.
  size_t slots() const { return slots_; }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    for (FusedPart& step : steps_) find_addresses(step, in, out);
    in_parallel(threads_, n_, least_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kFusedTile) {
        run_tile(i, std::min(kFusedTile, end - i));
      }
    });
    return ok_status();
  }

 private:
  // Where elements lie: in memory, or in the thread's slots if `memory` is
  // null.
  struct Address {
    char* memory = nullptr;
    int64_t offset = 0;  // in the slots
    int64_t size = 0;    // of an element in memory

    char* at(char* slots, int64_t i) const {
      return memory == nullptr ? slots + offset : memory + i * size;
    }
  };
  struct FusedPart {
    const Tiled* kernel;
    std::vector<int32_t> in;  // as FusedStep::in
    int32_t out;              // a result, or ~slot
    // Of the run under way.
    Tiled::Operands scalars;
    std::array<Address, Tiled::kMostOperands> from;
    Address to;
  };
  static constexpr int64_t kSlotBytes = kFusedTile * sizeof(double);

  static size_t at(int32_t i) { return static_cast<size_t>(i); }

  // Gives each result that is not written to memory a slot until its last
  // reader has run. That may write over it, if its elements have the same size.
  void place_results() {
    std::vector<size_t> last(steps_.size());
    for (size_t s = 0; s < steps_.size(); ++s) {
      last[s] = s;
      for (const int32_t source : steps_[s].in) {
        if (source < 0) last[at(~source)] = s;
      }
    }
    std::vector<int32_t> free;
    const auto release = [&](size_t s, bool of_same_size) {
      for (size_t r = 0; r < s; ++r) {
        const Tiled* kernel = steps_[r].kernel;
        if (last[r] != s || steps_[r].out >= 0) continue;
        if ((kernel->result_size() == steps_[s].kernel->result_size()) !=
            of_same_size) {
          continue;
        }
        free.push_back(steps_[r].out);
      }
    };
    for (size_t s = 0; s < steps_.size(); ++s) {
      release(s, true);
      if (steps_[s].out < 0) {
        if (free.empty()) free.push_back(~static_cast<int32_t>(slots_++));
        steps_[s].out = free.back();
        free.pop_back();
        if (last[s] == s) free.push_back(steps_[s].out);  // nobody reads it
      }
      release(s, false);
    }
  }

  void find_addresses(FusedPart& step, std::span<const void* const> in,
                      std::span<void* const> out) {
    std::array<const void*, Tiled::kMostOperands> of_step{};
    for (size_t k = 0; k < step.in.size(); ++k) {
      const int32_t source = step.in[k];
      if (source < 0) {
        step.from[k] = steps_[at(~source)].to;
        continue;
      }
      of_step[k] = in[at(source)];
      // The memory is only read.
      step.from[k] = {static_cast<char*>(const_cast<void*>(of_step[k])), 0,
                      step.kernel->operand_size(k)};
    }
    step.kernel->load_scalars(of_step, step.scalars);
    for (size_t k = 0; k < step.in.size(); ++k) {
      if (step.in[k] < 0 || step.from[k].size != 0) continue;
      step.from[k].memory =
          static_cast<char*>(const_cast<void*>(step.scalars.at[k]));
    }
    if (step.out < 0) {
      step.to = {nullptr, ~step.out * kSlotBytes, 0};
    } else {
      step.to = {static_cast<char*>(out[at(step.out)]), 0,
                 step.kernel->result_size()};
    }
  }

  void run_tile(int64_t i, int64_t n) const {
    alignas(64) char slots[kMostSlots * kSlotBytes];
    for (const FusedPart& step : steps_) {
      const void* from[Tiled::kMostOperands];
      for (size_t k = 0; k < Tiled::kMostOperands; ++k) {
        from[k] = step.from[k].at(slots, i);
      }
      step.kernel->run_tile(from, step.to.at(slots, i), n);
    }
  }

  std::vector<FusedPart> steps_;
  int64_t n_;
  int64_t least_ = 1;
  int threads_;
  size_t slots_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> fuse(std::span<const FusedStep> steps, int threads) {
  auto fused = std::make_unique<FusedTiles>(steps, threads);
  if (fused->slots() > kMostSlots) return nullptr;
  return fused;
}

}  // namespace gt::exec::cpu
