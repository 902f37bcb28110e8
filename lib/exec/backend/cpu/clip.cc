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

struct Part {
  size_t tensor;
  int64_t begin, size;
};

// Sums the squares of several tensors.
template <typename T>
class Squares {
 public:
  explicit Squares(const Context& context)
      : loop_(loops_for<T>(context).square_sum), threads_(context.threads) {}

  void add(size_t tensor, int64_t elements) {
    for (int64_t at = 0; at < elements; at += kClipPart) {
      parts_.push_back({tensor, at, std::min(kClipPart, elements - at)});
    }
    sums_.resize(parts_.size());
  }
  const std::vector<Part>& parts() const { return parts_; }

  double of(std::span<const void* const> in) {
    each(threads_, parts_, [&](size_t p) {
      const Part& part = parts_[p];
      sums_[p] =
          loop_(static_cast<const T*>(in[part.tensor]) + part.begin, part.size);
    });
    double total = 0;
    for (const double s : sums_) total += s;
    return total;
  }

  template <typename Use>
  static void each(int threads, const std::vector<Part>& parts,
                   const Use& use) {
    each_in_parallel(threads, static_cast<int64_t>(parts.size()),
                     kClipPart * static_cast<int64_t>(sizeof(T)),
                     [&](int64_t p) { use(static_cast<size_t>(p)); });
  }

 private:
  double (*loop_)(const T*, int64_t);
  int threads_;
  std::vector<Part> parts_;
  std::vector<double> sums_;
};

// g... = clip g... max: scales all g by the norm of all of them, as
// torch.nn.utils.clip_grad_norm_ does.
template <typename T>
class Clip final : public Kernel {
 public:
  Clip(const Call& call, const Context& context)
      : scale_(loops_for<T>(context).scale),
        count_(call.results.size()),
        max_(call.type(count_).dtype),
        threads_(context.threads),
        squares_(context) {
    for (size_t i = 0; i < count_; ++i) {
      squares_.add(i, call.type(i).elements());
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const double norm = std::sqrt(squares_.of(in));
    const double most = load_real(max_, in[count_], 0);
    const double ratio = most / (norm + 1e-6);
    // Nan stays nan.
    const T factor = ratio > 1 ? T{1} : static_cast<T>(ratio);
    const auto& parts = squares_.parts();
    Squares<T>::each(threads_, parts, [&](size_t p) {
      const Part& part = parts[p];
      const auto* x = static_cast<const T*>(in[part.tensor]) + part.begin;
      auto* y = static_cast<T*>(out[part.tensor]) + part.begin;
      if (x != y || factor != 1) scale_(x, y, part.size, factor);
    });
    return ok_status();
  }

  bool in_place(size_t operand, size_t result) const override {
    return operand == result;
  }

 private:
  decltype(FloatLoops<T>::scale) scale_;
  size_t count_;
  Dtype max_;
  int threads_;
  Squares<T> squares_;
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
