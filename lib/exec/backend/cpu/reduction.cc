// Reductions. Neighbouring axes are joined, so that nearly all reductions have
// the form [outer, reduced, inner]; the others are first copied into that
// order. Sums run over parts of fixed size, whose results are joined in order:
// no bit depends on the number of threads.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/copy.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {
namespace {

struct Plan {
  int64_t outer = 1, reduced = 1, inner = 1;
  bool reorders = false;
  View order;  // kept dimensions, then reduced ones
};

Plan plan_of(const Shape& shape,
             const std::array<bool, Shape::kMaxRank>& reduced) {
  Plan plan;
  bool begun = false;
  bool ended = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (reduced[d]) {
      plan.reorders |= ended;
      begun = true;
      plan.reduced *= shape[d];
    } else {
      ended = begun;
      (begun ? plan.inner : plan.outer) *= shape[d];
    }
  }
  if (!plan.reorders) return plan;
  plan.outer *= plan.inner;
  plan.inner = 1;
  const Strides strides = strides_of(shape);
  for (const bool kept : {true, false}) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced[d] == kept) continue;
      plan.order.strides[plan.order.shape.size()] = strides[d];
      plan.order.shape.push_back(shape[d]);
    }
  }
  return plan;
}

// Operand 0 in the plan's order and in the dtype that is computed in.
class Source {
 public:
  Source(const Call& call, const Context& context, const Plan& plan,
         Dtype compute)
      : type_(call.type(0)),
        convert_(converter(type_.dtype, compute, *context.loops)) {
    if (plan.reorders) {
      copy_ = StridedCopy(plan.order, size_of(type_.dtype), context.threads);
      ordered_.resize(type_.bytes());
    }
    const Type converted{compute, type_.shape};
    if (convert_ != nullptr) converted_.resize(converted.bytes());
  }

  const void* get(const void* data) {
    if (!ordered_.empty()) {
      copy_.run(data, ordered_.data());
      data = ordered_.data();
    }
    if (converted_.empty()) return data;
    convert_(data, converted_.data(), type_.elements());
    return converted_.data();
  }

 private:
  Type type_;
  Convert convert_;
  StridedCopy copy_;
  std::vector<char> ordered_, converted_;
};

// Return the loops of a reduction that there is.
template <typename Row>
const Row& row_of(std::string_view op, const Row* rows) {
  while (op != rows->op) ++rows;
  return *rows;
}
template <typename T>
const ReduceRow<T>& float_reduction(std::string_view op,
                                    const Context& context) {
  return row_of(op, loops_for<T>(context).reductions);
}
template <typename T>
const WholeReduceRow<T>& whole_reduction(std::string_view op,
                                         const Context& context) {
  return row_of(op, whole_loops_for<T>(context).reductions);
}

// The number of elements of a row, and of rows of columns, that are reduced as
// one part.
constexpr int64_t kRowPart = 4096;
constexpr int64_t kColumnPart = 2048;
// The number of columns that are reduced side by side.
constexpr int64_t kColumns = 256;

// sum, mean, prod, max, min and the Euclidean norm of floats. f16 and bf16
// accumulate in f32, like f32 itself, and parts are joined in f64.
template <typename T>
class FloatReduction final : public Kernel {
 public:
  FloatReduction(const Call& call, const Context& context)
      : to_(call.results[0]),
        plan_(plan_of(call.type(0).shape, axis_mask(call, 0))),
        source_(call, context, plan_,
                sizeof(T) == 8 ? Dtype::kF64 : Dtype::kF32),
        threads_(context.threads) {
    const std::string& op = call.op->name;
    const bool mean = op == "mean";
    loop_ = &float_reduction<T>(mean ? "sum" : op, context);
    if (mean) divisor_ = static_cast<double>(plan_.reduced);
    norm_ = op == "norm";
    const int64_t part = plan_.inner == 1 ? kRowPart : kColumnPart;
    parts_ = std::max<int64_t>(1, (plan_.reduced + part - 1) / part);
    totals_.resize(static_cast<size_t>(plan_.outer * parts_ * plan_.inner));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x = static_cast<const T*>(source_.get(in[0]));
    plan_.inner == 1 ? rows(x, out[0]) : columns(x, out[0]);
    if (parts_ > 1) store(out[0], 0, plan_.outer * plan_.inner);
    return ok_status();
  }

 private:
  // Stores n results from r on. The thread that has reduced what has one part
  // stores it, since another one would have to fetch it.
  void store(void* out, int64_t r, int64_t n) const {
    const int64_t inner = plan_.inner;
    for (const int64_t end = r + n; r < end; ++r) {
      const double* first =
          totals_.data() + r / inner * parts_ * inner + r % inner;
      double total = *first;
      for (int64_t p = 1; p < parts_; ++p) {
        total = loop_->join(total, first[p * inner]);
      }
      if (norm_) total = std::sqrt(total);
      store_real(to_.dtype, out, r, total / divisor_);
    }
  }

  void rows(const T* x, void* out) {
    const int64_t cost =
        std::min(plan_.reduced, kRowPart) * static_cast<int64_t>(sizeof(T));
    each_in_parallel(threads_, plan_.outer * parts_, cost, [&](int64_t u) {
      const int64_t first = u % parts_ * kRowPart;
      const T* row = x + u / parts_ * plan_.reduced + first;
      totals_[static_cast<size_t>(u)] =
          loop_->row(row, std::min(kRowPart, plan_.reduced - first));
      if (parts_ == 1) store(out, u, 1);
    });
  }

  void columns(const T* x, void* out) {
    const int64_t inner = plan_.inner;
    const int64_t strips = (inner + kColumns - 1) / kColumns;
    const int64_t cost = std::min(plan_.reduced, kColumnPart) *
                         std::min(inner, kColumns) *
                         static_cast<int64_t>(sizeof(T));
    each_in_parallel(
        threads_, plan_.outer * parts_ * strips, cost, [&](int64_t u) {
          const int64_t column = u % strips * kColumns;
          // Counts over outer positions and parts.
          const int64_t part = u / strips;
          const int64_t first = part % parts_ * kColumnPart;
          const T* from =
              x + (part / parts_ * plan_.reduced + first) * inner + column;
          const int64_t n = std::min(kColumns, inner - column);
          const int64_t at = part * inner + column;
          loop_->columns(from, std::min(kColumnPart, plan_.reduced - first),
                         inner, n, totals_.data() + at);
          if (parts_ == 1) store(out, at, n);
        });
  }

  Type to_;
  Plan plan_;
  Source source_;
  int threads_;
  const ReduceRow<T>* loop_ = nullptr;
  double divisor_ = 1;
  bool norm_ = false;
  int64_t parts_ = 1;
  std::vector<double> totals_;
};

// sum, prod, max and min of integers, in wrapping i64. They are cut into parts
// for the threads, since no order shows in an integer.
template <typename T>
class IntegerReduction final : public Kernel {
 public:
  IntegerReduction(const Call& call, const Context& context, Dtype compute)
      : to_(call.results[0]),
        plan_(plan_of(call.type(0).shape, axis_mask(call, 0))),
        source_(call, context, plan_, compute),
        threads_(context.threads),
        loop_(whole_reduction<T>(call.op->name, context)),
        parts_(std::max<int64_t>(1, (plan_.reduced + kPart - 1) / kPart)) {
    totals_.resize(static_cast<size_t>(plan_.outer * parts_ * plan_.inner));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x = static_cast<const T*>(source_.get(in[0]));
    const int64_t inner = plan_.inner;
    const int64_t strips = (inner + kColumns - 1) / kColumns;
    const int64_t cost = std::min(plan_.reduced, kPart) *
                         std::min(inner, kColumns) *
                         static_cast<int64_t>(sizeof(T));
    each_in_parallel(threads_, plan_.outer * parts_ * strips, cost,
                     [&](int64_t u) { part(x, u / strips, u % strips); });
    for (int64_t r = 0; r < plan_.outer * inner; ++r) {
      const int64_t* first =
          totals_.data() + r / inner * parts_ * inner + r % inner;
      int64_t total = *first;
      for (int64_t p = 1; p < parts_; ++p) {
        total = loop_.join(total, first[p * inner]);
      }
      store_int(to_.dtype, out[0], r, total);
    }
    return ok_status();
  }

 private:
  static constexpr int64_t kPart = 4096;

  // `part` counts over outer positions and parts.
  void part(const T* x, int64_t part, int64_t strip) {
    const int64_t inner = plan_.inner;
    const int64_t column = strip * kColumns;
    const int64_t first = part % parts_ * kPart;
    const int64_t n = std::min(kPart, plan_.reduced - first);
    const T* from =
        x + (part / parts_ * plan_.reduced + first) * inner + column;
    int64_t* total = totals_.data() + part * inner + column;
    if (inner == 1) {
      *total = loop_.row(from, n);
    } else {
      loop_.columns(from, n, inner, std::min(kColumns, inner - column), total);
    }
  }

  Type to_;
  Plan plan_;
  Source source_;
  int threads_;
  const WholeReduceRow<T>& loop_;
  int64_t parts_;
  std::vector<int64_t> totals_;
};

std::unique_ptr<Kernel> cpu_reduction(const Call& call,
                                      const Context& context) {
  const Dtype dtype = call.type(0).dtype;
  return with_element(dtype, [&]<typename T>() -> std::unique_ptr<Kernel> {
    if constexpr (std::is_integral_v<T>) {
      return std::make_unique<IntegerReduction<T>>(call, context, dtype);
    } else {
      using Sum = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
      return make<FloatReduction<Sum>>(call, context);
    }
  });
}

std::unique_ptr<Kernel> cpu_mean(const Call& call, const Context& context) {
  if (!is_float(call.type(0).dtype)) return nullptr;
  return cpu_reduction(call, context);
}

std::unique_ptr<Kernel> cpu_norm(const Call& call, const Context& context) {
  if (call.number("ord") != 2) return nullptr;
  return cpu_reduction(call, context);
}

// z = prod_grad g x, along the last axes.
template <typename T>
class ProdGrad final : public Kernel {
 public:
  ProdGrad(const Call& call, const Context& context)
      : plan_(plan_of(call.type(1).shape, axis_mask(call, 1))),
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

  Plan plan_;
  decltype(FloatLoops<T>::prod_grad) loop_;
  int threads_;
};

std::unique_ptr<Kernel> cpu_prod_grad(const Call& call,
                                      const Context& context) {
  const Plan plan = plan_of(call.type(1).shape, axis_mask(call, 1));
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
        most_(row_loop(largest_ ? "max" : "min", context)),
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
  // A row's most, or nan if it has one.
  using RowLoop = decltype([] {
    if constexpr (std::is_integral_v<T>) {
      return WholeReduceRow<T>{}.row;
    } else {
      return ReduceRow<T>{}.row;
    }
  }());

  static RowLoop row_loop(std::string_view op, const Context& context) {
    if constexpr (std::is_integral_v<T>) {
      return whole_reduction<T>(op, context).row;
    } else {
      return float_reduction<T>(op, context).row;
    }
  }

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
  RowLoop most_;
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
    {"sum", cpu_reduction},       {"prod", cpu_reduction},
    {"max", cpu_reduction},       {"min", cpu_reduction},
    {"mean", cpu_mean},           {"argmax", cpu_argmax},
    {"argmin", cpu_argmax},       {"norm", cpu_norm},
    {"prod_grad", cpu_prod_grad},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return kReductionKernels; }

}  // namespace gt::exec::cpu
