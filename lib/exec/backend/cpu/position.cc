// rope, rope_grad and dropout. f16 and bf16 are computed in f32.
#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"
#include "exec/backend/philox.h"
#include "exec/backend/probability.h"
#include "exec/memory/part_runs.h"

namespace gt::exec::cpu {
namespace {

// y = rope x [start]; rope_grad rotates back. The table of angles is kept until
// `start` changes.
template <typename T>
class Rope final : public Kernel {
 public:
  Rope(const Call& call, const Context& context)
      : loop_(call.flag("interleaved") ? loops_for<T>(context).rope_interleaved
                                       : loops_for<T>(context).rope),
        x_(call.type(0), dtype_of<T>(), *context.loops),
        y_(call.results[0], dtype_of<T>(), *context.loops),
        back_(call.op->name == "rope_grad"),
        base_(call.number("base")),
        heads_(call.integer("heads")),
        threads_(context.threads) {
    const Shape& shape = call.type(0).shape;
    rows_ = shape[shape.size() - 2];
    width_ = shape.back();
    pairs_ = width_ / heads_ / 2;
    count_ = width_ == 0 ? 0 : shape.elements() / width_;
    first_ = part_of(call).value().start[shape.size() - 2];
    if (call.arguments.size() > 1 && call.given(1)) {
      start_ = call.type(1).dtype;
      has_start_ = true;
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(x_.get(in[0]));
    auto* y = static_cast<T*>(y_.place(out[0]));
    const int64_t start = has_start_ ? load_int(start_, in[1], 0) : 0;
    make_table(first_ + start);
    const int64_t least = kWorthAThread / (width_ * kCost + 1);
    in_parallel(threads_, count_, least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = r % rows_ * pairs_;
        loop_(x + r * width_, y + r * width_, cosine_.data() + at,
              sine_.data() + at, heads_, pairs_);
      }
    });
    y_.store(out[0]);
    return ok_status();
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return operand == 0;
  }

 private:
  static constexpr int64_t kCost = 2 * static_cast<int64_t>(sizeof(T));

  void make_table(int64_t position) {
    if (!cosine_.empty() && position == position_) return;
    position_ = position;
    cosine_.resize(static_cast<size_t>(rows_ * pairs_));
    sine_.resize(cosine_.size());
    const double step = -1.0 / static_cast<double>(pairs_);
    for (int64_t i = 0; i < pairs_; ++i) {
      const double turn = std::pow(base_, static_cast<double>(i) * step);
      for (int64_t r = 0; r < rows_; ++r) {
        const double angle = static_cast<double>(position + r) * turn;
        const auto at = static_cast<size_t>(r * pairs_ + i);
        cosine_[at] = static_cast<T>(std::cos(angle));
        sine_[at] = static_cast<T>(back_ ? -std::sin(angle) : std::sin(angle));
      }
    }
  }

  decltype(FloatLoops<T>::rope) loop_;
  Converted x_;
  Returned y_;
  bool back_;
  double base_;
  int64_t heads_;
  int threads_;
  int64_t rows_ = 0, width_ = 0, pairs_ = 0, count_ = 0;
  int64_t first_ = 0;  // position of the part's first row
  bool has_start_ = false;
  Dtype start_ = Dtype::kI64;
  int64_t position_ = 0;
  std::vector<T> cosine_, sine_;
};

// y = dropout x p seed: it drops by the same numbers that rand gives, by index
// in the whole tensor. The bits of the last lines are kept, since the gradient
// of a line, and a line that is computed again, drop by the same seed.
template <typename T>
class Dropout final : public Kernel {
 public:
  Dropout(const Call& call, const Context& context)
      : drop_(loops_for<T>(context).drop),
        reaching_(context.loops->reaching),
        x_(call.type(0), dtype_of<T>(), *context.loops),
        y_(call.results[0], dtype_of<T>(), *context.loops),
        runs_(call),
        n_(call.results[0].elements()),
        words_(n_ / 64 + 1),
        p_(call.type(1).dtype),
        seed_(call.type(2).dtype),
        threads_(context.threads) {
    if (runs_.count() == 1 && runs_.begin(0) % 2 == 0) {
      most_ = std::min(kMostWords / words_, kMostMasks);
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(x_.get(in[0]));
    auto* y = static_cast<T*>(y_.place(out[0]));
    const double p = load_real(p_, in[1], 0);
    if (Status s = check_probability(p); !s.ok()) return s;
    const auto seed = static_cast<uint64_t>(load_int(seed_, in[2], 0));
    const int32_t least = least_kept(static_cast<float>(p));
    // The work on half types is done in f32, and only its results are rounded.
    const auto keep = static_cast<T>(1 - p);
    Mask none;
    Mask& mask = most_ > 0 ? mask_of(seed, least) : none;
    const bool is_known = !mask.bits.empty();
    if (most_ > 0) mask.bits.resize(static_cast<size_t>(words_));
    const auto some = [&](int64_t i, int64_t g, int64_t n) {
      uint64_t made[kSome / 64 + 2];
      uint64_t* bits = most_ > 0 ? mask.bits.data() + i / 64 : made;
      const int64_t odd = g % 2;
      if (!is_known) {
        reaching_(seed, static_cast<uint64_t>(g) / 2, least, bits, n + odd);
      }
      drop_(x + i, y + i, n, bits, odd, keep);
    };
    in_parallel(threads_, n_, kWorthAThread / 8,
                [&](int64_t begin, int64_t end) {
                  runs_.each(begin, end, [&](int64_t i, int64_t g, int64_t n) {
                    for (int64_t k = 0; k < n; k += kSome) {
                      some(i + k, g + k, std::min(kSome, n - k));
                    }
                  });
                });
    y_.store(out[0]);
    return ok_status();
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return operand == 0;
  }

 private:
  static constexpr int64_t kSome = 1024;  // elements, a multiple of 64
  static constexpr int64_t kMostWords = int64_t{1} << 21;
  static constexpr int64_t kMostMasks = 64;

  // Which elements are kept: a bit for each, or none as long as that is
  // unknown.
  struct Mask {
    uint64_t seed = 0;
    int32_t least = 0;
    std::vector<uint64_t> bits;
  };

  // Returns the mask of a line. A new one takes the place of the oldest if
  // there are enough.
  Mask& mask_of(uint64_t seed, int32_t least) {
    const auto it = std::find_if(
        masks_.begin(), masks_.end(),
        [=](const Mask& m) { return m.seed == seed && m.least == least; });
    if (it != masks_.end()) return *it;
    if (static_cast<int64_t>(masks_.size()) == most_) masks_.pop_front();
    return masks_.emplace_back(Mask{seed, least, {}});
  }

  // rand gives 24 bits as a fraction of 2^24. Returns the least of them that is
  // not below p.
  static int32_t least_kept(float p) {
    return static_cast<int32_t>(std::ceil(static_cast<double>(p) * (1 << 24)));
  }

  decltype(FloatLoops<T>::drop) drop_;
  decltype(Loops::reaching) reaching_;
  Converted x_;
  Returned y_;
  PartRuns runs_;
  int64_t n_, words_;  // elements, and words of their bits
  Dtype p_, seed_;
  int threads_;
  int64_t most_ = 0;  // the masks that may be kept
  std::deque<Mask> masks_;
};

constexpr KernelRow kPositionKernels[] = {
    {"rope", make_wide<Rope>},
    {"rope_grad", make_wide<Rope>},
    {"dropout", make_wide<Dropout>},
};

}  // namespace

std::span<const KernelRow> position_kernels() { return kPositionKernels; }

}  // namespace gt::exec::cpu
