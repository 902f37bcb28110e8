// clip by the norm of whole tensors. Squares are summed over parts of fixed
// size, whose sums are joined in order: no bit depends on the number of
// threads.
#include <cmath>
#include <vector>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"

namespace gt::exec::cpu {
namespace {

constexpr int64_t kClipPart = 8192;  // elements

// g... = clip g... max: scales all g by the norm of all of them, as
// torch.nn.utils.clip_grad_norm_ does.
template <typename T>
class Clip final : public Kernel {
 public:
  Clip(const Call& call, const Context& context)
      : loops_(loops_for<T>(context)),
        count_(call.results.size()),
        max_(call.type(count_).dtype),
        threads_(context.threads) {
    for (size_t i = 0; i < count_; ++i) {
      const int64_t elements = call.type(i).elements();
      for (int64_t at = 0; at < elements; at += kClipPart) {
        parts_.push_back({i, at, std::min(kClipPart, elements - at)});
      }
    }
    sums_.resize(parts_.size());
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    each_part([&](size_t p) {
      const Part& part = parts_[p];
      const auto* x = static_cast<const T*>(in[part.tensor]) + part.begin;
      sums_[p] = loops_.square_sum(x, part.size);
    });
    double total = 0;
    for (const double s : sums_) total += s;
    const double most = load_real(max_, in[count_], 0);
    // A total of 0 may be one of squares that underflowed. Their root is below
    // 1e-12, which changes the ratio only where max is as small.
    const bool sure = std::isfinite(total) && (total > 0 || most > 1e-12);
    const long double norm = sure ? std::sqrt(total) : norm_again(in);
    const auto ratio = static_cast<double>(most / (norm + 1e-6L));
    // Nan stays nan.
    const T factor = ratio > 1 ? T{1} : static_cast<T>(ratio);
    each_part([&](size_t p) {
      const Part& part = parts_[p];
      const auto* x = static_cast<const T*>(in[part.tensor]) + part.begin;
      auto* y = static_cast<T*>(out[part.tensor]) + part.begin;
      if (x != y || factor != 1) loops_.scale(x, y, part.size, factor);
    });
    return ok_status();
  }

  bool in_place(size_t operand, size_t result) const override {
    return operand == result;
  }

 private:
  struct Part {
    size_t tensor;
    int64_t begin, size;
  };

  // The norm in a type that has range for all squares.
  long double norm_again(std::span<const void* const> in) const {
    long double total = 0;
    for (const Part& part : parts_) {
      const auto* x = static_cast<const T*>(in[part.tensor]) + part.begin;
      for (int64_t i = 0; i < part.size; ++i) {
        total += static_cast<long double>(x[i]) * x[i];
      }
    }
    return std::sqrt(total);
  }

  // Calls use(p) for the number of each part.
  template <typename Use>
  void each_part(const Use& use) const {
    each_in_parallel(threads_, static_cast<int64_t>(parts_.size()),
                     kClipPart * static_cast<int64_t>(sizeof(T)),
                     [&](int64_t p) { use(static_cast<size_t>(p)); });
  }

  const FloatLoops<T>& loops_;
  size_t count_;
  Dtype max_;
  int threads_;
  std::vector<Part> parts_;
  std::vector<double> sums_;  // of the squares of each part
};

std::unique_ptr<Kernel> cpu_clip(const Call& call, const Context& context) {
  const Dtype dtype = call.type(0).dtype;
  for (const Type& type : call.results) {
    if (type.dtype != dtype) return nullptr;
  }
  return make_float<Clip>(call, context);
}

constexpr KernelRow kClipKernels[] = {
    {"clip", cpu_clip},
};

}  // namespace

std::span<const KernelRow> clip_kernels() { return kClipKernels; }

}  // namespace gt::exec::cpu
