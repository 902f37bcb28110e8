// Reductions over any axes, and cumsum. Floats accumulate in long double, which
// f64 needs, and are rounded once; integers accumulate in wrapping i64.
#include <algorithm>
#include <cmath>
#include <vector>

#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/view.h"

namespace gt::exec::ref {
namespace {

using Real = long double;

// A reduction: the total of no elements, and how an element is joined to a
// total.
struct Fold {
  const char* op;
  double first;
  Real (*real)(Real total, Real x);
  int64_t (*integer)(int64_t total, int64_t x);
  // The total begins with the first element instead of `first`.
  bool starts;
  // The total is divided by divisor=.
  bool mean = false;
};

// A nan stays once it was met.
Real greater(Real a, Real b) { return b > a || std::isnan(b) ? b : a; }
Real lesser(Real a, Real b) { return b < a || std::isnan(b) ? b : a; }

constexpr Fold kFolds[] = {
    {"sum", 0, [](Real a, Real b) { return a + b; }, wrap_add, false},
    {"part_mean", 0, [](Real a, Real b) { return a + b; }, nullptr, false,
     true},
    {"prod", 1, [](Real a, Real b) { return a * b; }, wrap_mul, false},
    {"max", 0, [](Real a, Real b) { return std::isnan(a) ? a : greater(a, b); },
     [](int64_t a, int64_t b) { return std::max(a, b); }, true},
    {"min", 0, [](Real a, Real b) { return std::isnan(a) ? a : lesser(a, b); },
     [](int64_t a, int64_t b) { return std::min(a, b); }, true},
};

// Returns strides of the result over the operand's shape: 0 along reduced axes.
Strides result_strides(const Shape& shape,
                       const std::array<bool, Shape::kMaxRank>& reduced) {
  Strides strides{};
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (reduced[d]) continue;
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

class Reduction final : public Kernel {
 public:
  Reduction(const Call& call, const Fold& function)
      : function_(function),
        from_(call.type(0)),
        to_(call.results[0]),
        divisor_(mean_divisor(call)),
        strides_(result_strides(from_.shape, axis_mask(call, 0))) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    if (is_float(from_.dtype)) {
      reduce<Real, double>(in[0], out[0], function_.real, load_real,
                           store_real);
    } else {
      reduce<int64_t, int64_t>(in[0], out[0], function_.integer, load_int,
                               store_int);
    }
    return ok_status();
  }

 private:
  template <typename T, typename Element>
  void reduce(const void* in, void* out, T (*join)(T, T),
              Element (*load)(Dtype, const void*, int64_t),
              void (*store)(Dtype, void*, int64_t, Element)) {
    const int64_t results = to_.elements();
    std::vector<T> total(static_cast<size_t>(results),
                         static_cast<T>(function_.first));
    std::vector<bool> begun(total.size(), !function_.starts);
    Walk<1> walk(from_.shape, {strides_});
    for (int64_t i = 0; i < from_.elements(); ++i, walk.next()) {
      const auto r = static_cast<size_t>(walk[0]);
      const T x = load(from_.dtype, in, i);
      total[r] = begun[r] ? join(total[r], x) : x;
      begun[r] = true;
    }
    for (int64_t r = 0; r < results; ++r) {
      T y = total[static_cast<size_t>(r)];
      if (function_.mean) y /= static_cast<T>(divisor_);
      store(to_.dtype, out, r, static_cast<Element>(y));
    }
  }

  const Fold& function_;
  Type from_, to_;
  int64_t divisor_;
  Strides strides_;
};

std::unique_ptr<Kernel> ref_reduction(const Call& call) {
  for (const Fold& f : kFolds) {
    if (call.op->name == f.op) return std::make_unique<Reduction>(call, f);
  }
  return nullptr;
}

std::unique_ptr<Kernel> ref_part_mean(const Call& call) {
  return is_float(call.type(0).dtype) ? ref_reduction(call) : nullptr;
}

// Finds the index of the first largest or smallest element along an axis, or of
// all elements in row-major order. nan comes before all others.
class Argmax final : public Kernel {
 public:
  explicit Argmax(const Call& call)
      : from_(call.type(0)),
        lines_(call.has_key("axis")
                   ? lines_along(from_.shape, single_axis(call, 0))
                   : rows_of({from_.elements()})),
        largest_(call.op->name == "argmax") {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    for (int64_t l = 0; l < lines_.count; ++l) {
      store_int(Dtype::kI64, out[0], l, best(in[0], lines_.first(l)));
    }
    return ok_status();
  }

 private:
  int64_t best(const void* data, int64_t first) const {
    int64_t at = 0;
    const int64_t step = lines_.step;
    for (int64_t i = 1; i < lines_.size; ++i) {
      if (beats(data, first + i * step, first + at * step)) at = i;
    }
    return at;
  }

  bool beats(const void* data, int64_t i, int64_t j) const {
    if (is_float(from_.dtype)) {
      const double a = load_real(from_.dtype, data, i);
      const double b = load_real(from_.dtype, data, j);
      if (std::isnan(b)) return false;
      return std::isnan(a) || (largest_ ? a > b : a < b);
    }
    const int64_t a = load_int(from_.dtype, data, i);
    const int64_t b = load_int(from_.dtype, data, j);
    return largest_ ? a > b : a < b;
  }

  Type from_;
  Lines lines_;
  bool largest_;
};

class Cumsum final : public Kernel {
 public:
  explicit Cumsum(const Call& call)
      : from_(call.type(0)),
        to_(call.results[0].dtype),
        lines_(lines_along(from_.shape, single_axis(call, 0))) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    for (int64_t l = 0; l < lines_.count; ++l) {
      Real real = 0;
      int64_t integer = 0;
      for (int64_t k = 0; k < lines_.size; ++k) {
        const int64_t i = lines_.first(l) + k * lines_.step;
        if (is_float(from_.dtype)) {
          real += load_real(from_.dtype, in[0], i);
          store_real(to_, out[0], i, static_cast<double>(real));
        } else {
          integer = wrap_add(integer, load_int(from_.dtype, in[0], i));
          store_int(to_, out[0], i, integer);
        }
      }
    }
    return ok_status();
  }

 private:
  Type from_;
  Dtype to_;
  Lines lines_;
};

constexpr KernelRow kReductionKernels[] = {
    {"sum", ref_reduction},   {"prod", ref_reduction},
    {"max", ref_reduction},   {"min", ref_reduction},
    {"argmax", make<Argmax>}, {"argmin", make<Argmax>},
    {"cumsum", make<Cumsum>}, {"part_mean", ref_part_mean},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return kReductionKernels; }

}  // namespace gt::exec::ref
