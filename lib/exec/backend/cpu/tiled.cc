#include "exec/backend/cpu/tiled.h"

#include <algorithm>
#include <vector>

#include "exec/backend/cpu/parallel.h"

namespace gt::exec::cpu {
namespace {

constexpr int64_t kFusedTile = 512;     // elements
constexpr size_t kMostSlots = 16;  // that stay in the nearest cache

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
      steps_.push_back({kernel, step.in, step.out, {}});
      cost += 1 / static_cast<double>(kernel->least());
    }
    least_ = std::max(kFusedTile, static_cast<int64_t>(1 / cost));
    place_results();
  }

  // How many slots a tile takes for results that are not written to memory.
  size_t slots() const { return slots_; }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    for (FusedPart& step : steps_) {
      std::array<const void*, Tiled::kMostOperands> of_step{};
      for (size_t k = 0; k < step.in.size(); ++k) {
        if (step.in[k] >= 0) of_step[k] = in[at(step.in[k])];
      }
      step.kernel->load_scalars(of_step, step.operands);
    }
    in_parallel(threads_, n_, least_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kFusedTile) {
        run_tile(in, out, i, std::min(kFusedTile, end - i));
      }
    });
    return ok_status();
  }

 private:
  struct FusedPart {
    const Tiled* kernel;
    std::vector<int32_t> in;  // as FusedStep::in
    int32_t out;              // a result, or ~slot
    Tiled::Operands operands;
  };
  using Slots = std::array<std::array<double, kFusedTile>, kMostSlots>;

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

  void run_tile(std::span<const void* const> in, std::span<void* const> out,
                int64_t i, int64_t n) const {
    alignas(64) Slots slots;
    for (const FusedPart& step : steps_) {
      Tiled::Operands operands = step.operands;
      for (size_t k = 0; k < step.in.size(); ++k) {
        const size_t size = step.kernel->operand_size(k);
        if (size == 0) continue;
        const int32_t source = step.in[k];
        operands.at[k] =
            source >= 0 ? static_cast<const char*>(in[at(source)]) + i * size
                        : address(steps_[at(~source)], slots, out, i);
      }
      step.kernel->run_tile(operands, address(step, slots, out, i), n);
    }
  }

  // Returns where the step's result for the tile at element i lies.
  static char* address(const FusedPart& step, Slots& slots,
                       std::span<void* const> out, int64_t i) {
    if (step.out < 0) return reinterpret_cast<char*>(&slots[at(~step.out)]);
    return static_cast<char*>(out[at(step.out)]) +
           i * static_cast<int64_t>(step.kernel->result_size());
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
