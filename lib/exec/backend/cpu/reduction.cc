// Reductions by one pass, in parts (reduce_plan.h), and what chooses an
// element.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/cpu/reduce_plan.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {

Scaled times(const Scaled& a, const Scaled& b) {
  int exponent = 0;
  const double fraction = std::frexp(a.fraction * b.fraction, &exponent);
  if (!std::isfinite(fraction)) exponent = 0;
  return {fraction, a.exponent + b.exponent + exponent};
}

double value_of(const Scaled& x) {
  constexpr int64_t kMost = 4000;  // beyond it all is 0 or inf
  return std::ldexp(x.fraction,
                    static_cast<int>(std::clamp(x.exponent, -kMost, kMost)));
}

namespace {

// sum, max and min, of integers prod, and of floats mean and the Euclidean
// norm. f16 and bf16 accumulate in f32, like f32 itself, and parts of floats
// are joined in f64. Integers wrap as i64. What may have left the range of
// floats on the way is computed again in one that is wide enough.
template <typename T>
class Reduce final : public Kernel {
 public:
  // The operand is converted to `compute`, the dtype of T.
  Reduce(const Call& call, const Context& context, Dtype compute)
      : to_(call.results[0]),
        plan_(reduce_plan(call.type(0).shape, axis_mask(call, 0))),
        source_(call, context, plan_, compute),
        threads_(context.threads),
        mean_(call.op->row->reduction == gt::Reduction::kMean),
        norm_(call.op->name == "norm" || call.op->name == "part_norm"),
        divisor_(call.op->name == "norm" ? 1 : mean_divisor(call)),
        chooses_(call.op->row->reduction == gt::Reduction::kMax ||
                 call.op->row->reduction == gt::Reduction::kMin),
        loop_(reduction<T>(mean_   ? "sum"
                           : norm_ ? "norm"
                                   : call.op->name,
                           context)),
        part_(plan_.inner == 1 ? kRowPart : kColumnPart),
        parts_(std::max<int64_t>(1, (plan_.reduced + part_ - 1) / part_)) {
    totals_.resize(static_cast<size_t>(plan_.outer * parts_ * plan_.inner));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x = static_cast<const T*>(source_.get(in[0]));
    const int64_t inner = plan_.inner;
    const int64_t strips = (inner + kColumns - 1) / kColumns;
    const int64_t cost = std::min(plan_.reduced, part_) *
                         std::min(inner, kColumns) *
                         static_cast<int64_t>(sizeof(T));
    each_in_parallel(
        threads_, plan_.outer * parts_ * strips, cost, [=, this](int64_t u) {
          // `part` counts over outer positions and parts.
          const auto [part, strip] = divide(u, strips);
          const auto [outer, number] = divide(part, parts_);
          const int64_t column = strip * kColumns;
          const int64_t first = number * part_;
          const int64_t n = std::min(part_, plan_.reduced - first);
          const T* from = x + (outer * plan_.reduced + first) * inner + column;
          const int64_t columns = std::min(kColumns, inner - column);
          const int64_t at = part * inner + column;
          if (inner == 1) {
            totals_[static_cast<size_t>(at)] = loop_.row(from, n);
          } else {
            loop_.columns(from, n, inner, columns, totals_.data() + at);
          }
          if (parts_ == 1) store(x, out[0], at, columns);
        });
    if (parts_ > 1) store(x, out[0], 0, plan_.outer * plan_.inner);
    return ok_status();
  }

 private:
  // Returns a / b and a % b. Short rows have one part and one strip each, and
  // would wait for the divisions.
  static std::pair<int64_t, int64_t> divide(int64_t a, int64_t b) {
    if (b == 1) return {a, 0};
    return {a / b, a % b};
  }

  // Whether the total of a result, which is that of squares for a norm, has
  // certainly not been in overflow on the way, nor lost digits to underflow.
  bool is_sure(double total) const {
    if (chooses_) return true;
    if (!std::isfinite(total)) return false;
    return !norm_ ||
           total >= static_cast<double>(plan_.reduced) * kLeastSquare<T>;
  }
  // The same total of result r, in a type that has range for all squares.
  long double again(const T* x, int64_t r) const {
    const auto [outer, column] = divide(r, plan_.inner);
    const T* from = x + outer * plan_.reduced * plan_.inner + column;
    long double total = 0;
    for (int64_t i = 0; i < plan_.reduced; ++i) {
      const long double each = from[i * plan_.inner];
      total += norm_ ? each * each : each;
    }
    return total;
  }
  double finished(long double total) const {
    if (norm_) total = std::sqrt(total);
    if (mean_ || norm_) total /= static_cast<long double>(divisor_);
    return static_cast<double>(total);
  }

  // Stores n results from r on. The thread that has reduced what has one part
  // stores it, since another one would have to fetch it.
  void store([[maybe_unused]] const T* x, void* out, int64_t r,
             int64_t n) const {
    const int64_t inner = plan_.inner;
    for (const int64_t end = r + n; r < end; ++r) {
      const auto [outer, column] = divide(r, inner);
      const Reduced<T>* first =
          totals_.data() + outer * parts_ * inner + column;
      Reduced<T> total = *first;
      for (int64_t p = 1; p < parts_; ++p) {
        total = loop_.join(total, first[p * inner]);
      }
      if constexpr (std::is_integral_v<T>) {
        store_int(to_.dtype, out, r, total);
      } else {
        if (!is_sure(total)) {
          store_real(to_.dtype, out, r, finished(again(x, r)));
          continue;
        }
        if (norm_) total = std::sqrt(total);
        if (mean_ || norm_) total /= static_cast<double>(divisor_);
        store_real(to_.dtype, out, r, total);
      }
    }
  }

  Type to_;
  ReducePlan plan_;
  ReduceSource source_;
  int threads_;
  bool mean_, norm_;
  int64_t divisor_;  // of these
  bool chooses_;     // max and min
  const ReduceRow<T>& loop_;
  int64_t part_;   // elements or rows of a part
  int64_t parts_;  // of each outer position
  std::vector<Reduced<T>> totals_;
};

std::unique_ptr<Kernel> cpu_reduction(const Call& call,
                                      const Context& context) {
  const Dtype dtype = call.type(0).dtype;
  return with_element(dtype, [&]<typename T>() -> std::unique_ptr<Kernel> {
    if constexpr (std::is_integral_v<T>) {
      return std::make_unique<Reduce<T>>(call, context, dtype);
    } else {
      using Sum = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
      return std::make_unique<Reduce<Sum>>(call, context, dtype_of<Sum>());
    }
  });
}

std::unique_ptr<Kernel> cpu_mean(const Call& call, const Context& context) {
  if (!is_float(call.type(0).dtype)) return nullptr;
  return cpu_reduction(call, context);
}

std::unique_ptr<Kernel> cpu_norm(const Call& call, const Context& context) {
  if (call.has_key("ord") && call.number("ord") != 2) return nullptr;
  return cpu_reduction(call, context);
}

// prod of floats.
template <typename T>
class Product final : public Kernel {
 public:
  Product(const Call& call, const Context& context)
      : to_(call.results[0].dtype),
        loop_(loops_for<T>(context).product),
        rows_(call, context),
        products_(static_cast<size_t>(rows_.count() * rows_.parts())) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto parts = static_cast<size_t>(rows_.parts());
    rows_.each_part(rows_.get(in[0]), [&](size_t u, const T* x, int64_t n) {
      products_[u] = loop_(x, n);
      if (parts == 1) store(out[0], u, products_[u]);
    });
    if (parts == 1) return ok_status();
    for (size_t r = 0; r < products_.size() / parts; ++r) {
      const Scaled* part = products_.data() + r * parts;
      Scaled total = *part;
      for (size_t p = 1; p < parts; ++p) total = times(total, part[p]);
      store(out[0], r, total);
    }
    return ok_status();
  }

 private:
  void store(void* out, size_t r, const Scaled& total) const {
    const bool plain = total.exponent == 0;
    store_real(to_, out, static_cast<int64_t>(r),
               plain ? total.fraction : value_of(total));
  }

  Dtype to_;
  decltype(FloatLoops<T>::product) loop_;
  ReduceRows<T> rows_;
  std::vector<Scaled> products_;
};

std::unique_ptr<Kernel> cpu_prod(const Call& call, const Context& context) {
  if (!is_float(call.type(0).dtype)) return cpu_reduction(call, context);
  return make_wide<Product>(call, context);
}

// z = prod_grad g x, along the last axes.
template <typename T>
class ProdGrad final : public Kernel {
 public:
  ProdGrad(const Call& call, const Context& context)
      : plan_(reduce_plan(call.type(1).shape, axis_mask(call, 1))),
        loop_(loops_for<T>(context).prod_grad),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* g = static_cast<const T*>(in[0]);
    const auto* x = static_cast<const T*>(in[1]);
    auto* z = static_cast<T*>(out[0]);
    const int64_t n = plan_.reduced;
    each_in_parallel(threads_, plan_.outer, n * kCost,
                     [&](int64_t r) { loop_(g[r], x + r * n, z + r * n, n); });
    return ok_status();
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return operand == 1;
  }

 private:
  static constexpr int64_t kCost = 4 * static_cast<int64_t>(sizeof(T));

  ReducePlan plan_;
  decltype(FloatLoops<T>::prod_grad) loop_;
  int threads_;
};

std::unique_ptr<Kernel> cpu_prod_grad(const Call& call,
                                      const Context& context) {
  const ReducePlan plan = reduce_plan(call.type(1).shape, axis_mask(call, 1));
  if (plan.reorders || plan.inner != 1) return nullptr;
  for (const Argument& a : call.arguments) {
    if (a.type.dtype != call.results[0].dtype) return nullptr;
  }
  return make_float<ProdGrad>(call, context);
}

// Finds the index of the first largest or smallest element along an axis; nan
// comes before all others.
template <typename T>
class Argmax final : public Kernel {
 public:
  Argmax(const Call& call, const Context& context)
      : lines_(call.has_key("axis")
                   ? lines_along(call.type(0).shape, single_axis(call, 0))
                   : rows_of({call.type(0).elements()})),
        largest_(call.op->name == "argmax"),
        most_(reduction<T>(largest_ ? "max" : "min", context).row),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(in[0]);
    auto* y = static_cast<int64_t*>(out[0]);
    each_in_parallel(threads_, lines_.count, lines_.size * 4, [&](int64_t l) {
      const T* line = x + lines_.first(l);
      y[l] = largest_ ? best<true>(line) : best<false>(line);
    });
    return ok_status();
  }

 private:
  template <bool kLargest>
  int64_t best(const T* x) const {
    if (lines_.step == 1)
      return place_of(static_cast<T>(most_(x, lines_.size)), x);
    int64_t at = 0;
    T most = x[0];
    for (int64_t i = 1; i < lines_.size; ++i) {
      if (most != most) break;  // nan
      const T next = x[i * lines_.step];
      if ((kLargest ? next > most : next < most) || next != next) {
        most = next;
        at = i;
      }
    }
    return at;
  }

  // Returns the place of the first element of a row that is `most`.
  int64_t place_of(T most, const T* x) const {
    const T* end = x + lines_.size;
    const T* at = most == most
                      ? std::find(x, end, most)
                      : std::find_if(x, end, [](T e) { return e != e; });
    return at - x;
  }

  Lines lines_;
  bool largest_;
  Reduced<T> (*most_)(const T*, int64_t);  // a row's most; nan if it has one
  int threads_;
};

std::unique_ptr<Kernel> cpu_argmax(const Call& call, const Context& context) {
  return with_element(call.type(0).dtype,
                      [&]<typename T>() -> std::unique_ptr<Kernel> {
                        if constexpr (std::is_arithmetic_v<T>) {
                          return make<Argmax<T>>(call, context);
                        } else {
                          return nullptr;
                        }
                      });
}

constexpr KernelRow kReductionKernels[] = {
    {"sum", cpu_reduction},       {"prod", cpu_prod},
    {"max", cpu_reduction},       {"min", cpu_reduction},
    {"mean", cpu_mean},           {"argmax", cpu_argmax},
    {"argmin", cpu_argmax},       {"norm", cpu_norm},
    {"prod_grad", cpu_prod_grad}, {"part_mean", cpu_mean},
    {"part_norm", cpu_norm},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return kReductionKernels; }

}  // namespace gt::exec::cpu
