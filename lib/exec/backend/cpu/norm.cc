// layer_norm, rms_norm and their gradients, row by row. f16 and bf16 are
// computed in f32.
#include <array>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {
namespace {

bool is_centered(const Call& call) {
  return call.op->name.starts_with("layer_norm");
}

// y = layer_norm x [w] [b]; y = rms_norm x [w]
template <typename T>
class Norm final : public Kernel {
 public:
  Norm(const Call& call, const Context& context)
      : loop_(is_centered(call) ? loops_for<T>(context).layer_norm
                                : loops_for<T>(context).rms_norm),
        rows_(rows_of(call.results[0].shape)),
        eps_(call.number("eps")),
        threads_(context.threads),
        y_(call.results[0], dtype_of<T>(), *context.loops) {
    for (const Argument& a : call.arguments) {
      operands_.emplace_back(a.type, dtype_of<T>(), *context.loops);
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    std::array<const T*, 3> x{};
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] != nullptr)
        x[i] = static_cast<const T*>(operands_[i].get(in[i]));
    }
    T* y = static_cast<T*>(y_.place(out[0]));
    const int64_t n = rows_.size;
    in_parallel(threads_, rows_.count, kWorthAThread / (n * kCost + 1),
                [&](int64_t begin, int64_t end) {
                  for (int64_t r = begin; r < end; ++r) {
                    loop_(x[0] + r * n, x[1], x[2], y + r * n, n, eps_);
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

  decltype(FloatLoops<T>::layer_norm) loop_;
  Lines rows_;
  double eps_;
  int threads_;
  std::vector<Converted> operands_;
  Returned y_;
};

// gx [gw] [gb] = layer_norm_grad g x [w]; gx [gw] = rms_norm_grad g x [w]. gw
// and gb are summed over parts of fixed size, and the parts in double: no bit
// depends on the number of threads.
template <typename T>
class NormGrad final : public Kernel {
 public:
  NormGrad(const Call& call, const Context& context)
      : loop_(is_centered(call) ? loops_for<T>(context).layer_norm_grad
                                : loops_for<T>(context).rms_norm_grad),
        rows_(rows_of(call.type(1).shape)),
        eps_(call.number("eps")),
        threads_(context.threads),
        parts_((rows_.count + kPart - 1) / kPart) {
    for (const Argument& a : call.arguments) {
      operands_.emplace_back(a.type, dtype_of<T>(), *context.loops);
    }
    for (const Type& type : call.results) {
      results_.emplace_back(type, dtype_of<T>(), *context.loops);
    }
    for (size_t r = 1; r < results_.size(); ++r) {
      sums_[r - 1].resize(static_cast<size_t>(parts_ * rows_.size));
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    std::array<const T*, 3> x{};
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] != nullptr)
        x[i] = static_cast<const T*>(operands_[i].get(in[i]));
    }
    T* gx = static_cast<T*>(results_[0].place(out[0]));
    each_in_parallel(threads_, parts_, kPart * rows_.size * kCost,
                     [&](int64_t p) { part(p, x, gx); });
    results_[0].store(out[0]);
    for (size_t r = 1; r < results_.size(); ++r) {
      join(sums_[r - 1].data(), static_cast<T*>(results_[r].place(out[r])));
      results_[r].store(out[r]);
    }
    return ok_status();
  }

  // gx may overwrite g or x.
  bool in_place(size_t operand, size_t result) const override {
    return operand < 2 && result == 0;
  }

 private:
  static constexpr int64_t kPart = 64;  // rows
  static constexpr int64_t kCost = 4 * static_cast<int64_t>(sizeof(T));

  void part(int64_t p, const std::array<const T*, 3>& x, T* gx) {
    const int64_t n = rows_.size;
    std::array<T*, 2> sum{};
    for (size_t s = 0; s < 2; ++s) {
      if (sums_[s].empty()) continue;
      sum[s] = sums_[s].data() + p * n;
      std::fill_n(sum[s], n, T{0});
    }
    const int64_t end = std::min(rows_.count, (p + 1) * kPart);
    for (int64_t r = p * kPart; r < end; ++r) {
      const int64_t at = r * n;
      loop_(x[0] + at, x[1] + at, x[2], gx + at, sum[0], sum[1], n, eps_);
    }
  }

  void join(const T* sums, T* y) const {
    for (int64_t i = 0; i < rows_.size; ++i) {
      double total = 0;
      for (int64_t p = 0; p < parts_; ++p) total += sums[p * rows_.size + i];
      y[i] = static_cast<T>(total);
    }
  }

  decltype(FloatLoops<T>::layer_norm_grad) loop_;
  Lines rows_;
  double eps_;
  int threads_;
  int64_t parts_;
  std::vector<Converted> operands_;
  std::vector<Returned> results_;
  std::array<std::vector<T>, 2> sums_;
};

template <template <typename> class K>
std::unique_ptr<Kernel> make_norm(const Call& call, const Context& context) {
  const Dtype dtype = call.results[0].dtype;
  for (const Argument& a : call.arguments) {
    if (!a.absent && a.type.dtype != dtype) return nullptr;
  }
  return make_wide<K>(call, context);
}

constexpr KernelRow kNormKernels[] = {
    {"layer_norm", make_norm<Norm>},
    {"rms_norm", make_norm<Norm>},
    {"layer_norm_grad", make_norm<NormGrad>},
    {"rms_norm_grad", make_norm<NormGrad>},
};

}  // namespace

std::span<const KernelRow> norm_kernels() { return kNormKernels; }

}  // namespace gt::exec::cpu
