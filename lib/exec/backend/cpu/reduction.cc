// Reductions. Neighbouring axes are joined, so that nearly all reductions have
// the form [outer, reduced, inner]; the others are first copied into that
// order. Sums run over parts of fixed size, whose results are joined in order:
// no bit depends on the number of threads.
#include <algorithm>
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

// The number of elements of a row, and of rows of columns, that are reduced as
// one part.
constexpr int64_t kRowPart = 4096;
constexpr int64_t kColumnPart = 2048;
// The number of columns that are reduced side by side.
constexpr int64_t kColumns = 256;

// sum, mean, prod, max and min of floats. f16 and bf16 accumulate in f32, like
// f32 itself, and parts are joined in f64.
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
    const FloatLoops<T>& loops = loops_for<T>(context);
    for (size_t i = 0; i < loops.reduction_count; ++i) {
      const ReduceRow<T>& row = loops.reductions[i];
      if ((mean ? "sum" : op) == row.op) loop_ = &row;
    }
    if (mean) divisor_ = static_cast<double>(plan_.reduced);
    const int64_t part = plan_.inner == 1 ? kRowPart : kColumnPart;
    parts_ = std::max<int64_t>(1, (plan_.reduced + part - 1) / part);
    totals_.resize(static_cast<size_t>(plan_.outer * parts_ * plan_.inner));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x = static_cast<const T*>(source_.get(in[0]));
    plan_.inner == 1 ? rows(x) : columns(x);
    const int64_t inner = plan_.inner;
    for (int64_t r = 0; r < plan_.outer * inner; ++r) {
      const double* first =
          totals_.data() + r / inner * parts_ * inner + r % inner;
      double total = *first;
      for (int64_t p = 1; p < parts_; ++p) {
        total = loop_->join(total, first[p * inner]);
      }
      store_real(to_.dtype, out[0], r, total / divisor_);
    }
    return ok_status();
  }

 private:
  void rows(const T* x) {
    const int64_t cost =
        std::min(plan_.reduced, kRowPart) * static_cast<int64_t>(sizeof(T));
    each_in_parallel(threads_, plan_.outer * parts_, cost, [&](int64_t u) {
      const int64_t first = u % parts_ * kRowPart;
      const T* row = x + u / parts_ * plan_.reduced + first;
      totals_[static_cast<size_t>(u)] =
          loop_->row(row, std::min(kRowPart, plan_.reduced - first));
    });
  }

  void columns(const T* x) {
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
          loop_->columns(from, std::min(kColumnPart, plan_.reduced - first),
                         inner, std::min(kColumns, inner - column),
                         totals_.data() + part * inner + column);
        });
  }

  Type to_;
  Plan plan_;
  Source source_;
  int threads_;
  const ReduceRow<T>* loop_ = nullptr;
  double divisor_ = 1;
  int64_t parts_ = 1;
  std::vector<double> totals_;
};

// sum, prod, max and min of integers, in wrapping i64.
template <typename T>
class IntegerReduction final : public Kernel {
 public:
  IntegerReduction(const Call& call, const Context& context, Dtype compute)
      : to_(call.results[0]),
        plan_(plan_of(call.type(0).shape, axis_mask(call, 0))),
        source_(call, context, plan_, compute),
        threads_(context.threads),
        reduce_(reduce_for(call.op->name)) {
    totals_.resize(static_cast<size_t>(plan_.outer * plan_.inner));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    (this->*reduce_)(static_cast<const T*>(source_.get(in[0])));
    for (size_t i = 0; i < totals_.size(); ++i) {
      store_int(to_.dtype, out[0], static_cast<int64_t>(i), totals_[i]);
    }
    return ok_status();
  }

 private:
  using Reduce = void (IntegerReduction::*)(const T* x);

  static Reduce reduce_for(std::string_view op) {
    if (op == "sum") return &IntegerReduction::reduce<0, wrap_add>;
    if (op == "prod") return &IntegerReduction::reduce<1, wrap_mul>;
    if (op == "max") return &IntegerReduction::reduce<INT64_MIN, larger>;
    return &IntegerReduction::reduce<INT64_MAX, smaller>;
  }

  static int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
  static int64_t smaller(int64_t a, int64_t b) { return std::min(a, b); }

  // kNone is the total of no elements.
  template <int64_t kNone, int64_t (*kJoin)(int64_t, int64_t)>
  void reduce(const T* x) {
    if (plan_.inner == 1) return reduce_rows<kNone, kJoin>(x);
    for (int64_t o = 0; o < plan_.outer; ++o) {
      int64_t* total = totals_.data() + o * plan_.inner;
      std::fill_n(total, plan_.inner, kNone);
      for (int64_t r = 0; r < plan_.reduced; ++r) {
        const T* row = x + (o * plan_.reduced + r) * plan_.inner;
        for (int64_t i = 0; i < plan_.inner; ++i) {
          total[i] = kJoin(total[i], static_cast<int64_t>(row[i]));
        }
      }
    }
  }

  // Rows are cut into parts for the threads: no order shows in an integer.
  template <int64_t kNone, int64_t (*kJoin)(int64_t, int64_t)>
  void reduce_rows(const T* x) {
    const int64_t n = plan_.reduced;
    const int64_t parts = (n + kRowPart - 1) / kRowPart;
    parts_.resize(static_cast<size_t>(plan_.outer * parts));
    each_in_parallel(threads_, plan_.outer * parts,
                     std::min(n, kRowPart) * static_cast<int64_t>(sizeof(T)),
                     [&](int64_t u) {
                       const int64_t first = u % parts * kRowPart;
                       parts_[static_cast<size_t>(u)] = row_total<kNone, kJoin>(
                           x + u / parts * n + first,
                           std::min(kRowPart, n - first));
                     });
    for (int64_t o = 0; o < plan_.outer; ++o) {
      int64_t total = kNone;
      for (int64_t p = 0; p < parts; ++p) {
        total = kJoin(total, parts_[static_cast<size_t>(o * parts + p)]);
      }
      totals_[static_cast<size_t>(o)] = total;
    }
  }

  template <int64_t kNone, int64_t (*kJoin)(int64_t, int64_t)>
  static int64_t row_total(const T* x, int64_t n) {
    int64_t total = kNone;
    for (int64_t i = 0; i < n; ++i) {
      total = kJoin(total, static_cast<int64_t>(x[i]));
    }
    return total;
  }

  Type to_;
  Plan plan_;
  Source source_;
  int threads_;
  Reduce reduce_;
  std::vector<int64_t> parts_;
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

  Lines lines_;
  bool largest_;
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
    {"sum", cpu_reduction}, {"prod", cpu_reduction}, {"max", cpu_reduction},
    {"min", cpu_reduction}, {"mean", cpu_mean},      {"argmax", cpu_argmax},
    {"argmin", cpu_argmax},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return kReductionKernels; }

}  // namespace gt::exec::cpu
