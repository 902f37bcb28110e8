// Sums of exponentials, their logarithms and the gradients of these.
#include <algorithm>
#include <cmath>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/cpu/reduce_plan.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {
namespace {

// The sums of exponentials of rows: of each row the largest element, and the
// sum of exp(x - largest).
template <typename T>
class ExpSums {
 public:
  struct Sum {
    T largest = 0;
    ExpSum of;
  };

  ExpSums(const Call& call, const Context& context, size_t k)
      : exp_sum_(loops_for<T>(context).exp_sum),
        rows_(call, context, k),
        parts_(static_cast<size_t>(rows_.count() * rows_.parts())) {}

  const ReduceRows<T>& rows() const { return rows_; }
  const T* get(const void* data) { return rows_.get(data); }

  // Calls use(r, sum, parts) for each row r. parts(f) calls f(x, n) for its
  // parts, the n elements from x on.
  template <typename Use>
  void run(const T* x, const Use& use) {
    const auto add = [&](size_t u, const T* part, int64_t n) {
      parts_[u].of = exp_sum_(part, n, &parts_[u].largest);
    };
    if (rows_.count() == 1) {  // its parts are divided among threads
      rows_.each_part(x, add);
      use(0, total(0), [&](const auto& f) {
        rows_.each_part(x, [&](size_t, const T* p, int64_t n) { f(p, n); });
      });
      return;
    }
    rows_.each([&](int64_t r) {
      rows_.each_part_of(r, x, add);
      use(r, total(r), [&](const auto& f) {
        rows_.each_part_of(r, x,
                           [&](size_t, const T* p, int64_t n) { f(p, n); });
      });
    });
  }

 private:
  Sum total(int64_t r) const {
    const Sum* part = parts_.data() + r * rows_.parts();
    Sum total = *part;
    if (rows_.parts() == 1) return total;
    for (int64_t p = 1; p < rows_.parts(); ++p) {
      if (part[p].largest > total.largest || part[p].largest != part[p].largest)
        total.largest = part[p].largest;
    }
    total.of = {};
    for (int64_t p = 0; p < rows_.parts(); ++p) {
      const ExpSum& own = part[p].of;
      if (part[p].largest == total.largest) {
        total.of.one += own.one;
        total.of.rest += own.rest;
      } else if (std::isfinite(part[p].largest)) {  // else it has no sum
        total.of.rest +=
            own.all() * std::exp(static_cast<double>(part[p].largest) -
                                 static_cast<double>(total.largest));
      }
    }
    return total;
  }

  ExpSum (*exp_sum_)(const T*, int64_t, T*);
  ReduceRows<T> rows_;
  std::vector<Sum> parts_;
};

template <typename T>
class LogSumExp final : public Kernel {
 public:
  LogSumExp(const Call& call, const Context& context)
      : to_(call.results[0].dtype), sums_(call, context, 0) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    sums_.run(sums_.get(in[0]), [&](int64_t r, const auto& of,
                                    const auto& /*parts*/) {
      const auto largest = static_cast<double>(of.largest);
      store_real(to_, out[0], r,
                 std::isfinite(largest) ? largest + of.of.log() : largest);
    });
    return ok_status();
  }

 private:
  Dtype to_;
  ExpSums<T> sums_;
};

// z = logsumexp_grad g x: g times the softmax of a row.
template <typename T>
class LogSumExpGrad final : public Kernel {
 public:
  LogSumExpGrad(const Call& call, const Context& context)
      : scaled_(loops_for<T>(context).softmax_scaled),
        sums_(call, context, 1),
        g_(call.type(0), dtype_of<T>(), *context.loops),
        z_(call.results[0], dtype_of<T>(), *context.loops) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* gs = static_cast<const T*>(g_.get(in[0]));
    const T* x = sums_.get(in[1]);
    T* z = static_cast<T*>(z_.place(out[0]));
    sums_.run(x, [&](int64_t r, const auto& of, const auto& parts) {
      const T g = gs[r];
      if (!std::isfinite(of.largest)) {
        const int64_t n = sums_.rows().size();
        return share(g, of.largest, x + r * n, z + r * n, n);
      }
      parts([&](const T* part, int64_t n) {
        scaled_(part, z + (part - x), n, of.largest, of.of.all(), g);
      });
    });
    z_.store(out[0]);
    return ok_status();
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return operand == 1;
  }

 private:
  // Elements that are inf share g; where all are -inf, it is 0 for them.
  static void share(T g, T largest, const T* x, T* z, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += x[i] == largest ? 1 : 0;
    const T none = largest == largest ? T{0} : largest;
    const T each = largest > 0 ? T{1} / static_cast<T>(count) : none;
    for (int64_t i = 0; i < n; ++i) z[i] = g * (x[i] == largest ? each : none);
  }

  void (*scaled_)(const T*, T*, int64_t, T, double, T);
  ExpSums<T> sums_;
  Converted g_;
  Returned z_;
};

// exp_others and exp_sums of x, of which none is above 0, in parts as those of
// Reduce.
template <typename T>
class ExpBelow final : public Kernel {
 public:
  ExpBelow(const Call& call, const Context& context)
      : to_(call.results[0].dtype),
        gives_both_(call.op->name == "exp_sums"),
        plan_(reduce_plan(call.type(0).shape, axis_mask(call, 0))),
        source_(call, context, plan_, dtype_of<T>()),
        loops_(loops_for<T>(context)),
        largest_(reduction<T>("max", context)),
        threads_(context.threads),
        part_(plan_.inner == 1 ? kRowPart : kColumnPart),
        parts_(std::max<int64_t>(1, (plan_.reduced + part_ - 1) / part_)),
        rests_(static_cast<size_t>(plan_.outer * parts_ * plan_.inner)),
        ones_(rests_.size()) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x = static_cast<const T*>(source_.get(in[0]));
    const int64_t strips = (plan_.inner + kColumns - 1) / kColumns;
    const int64_t cost = std::min(plan_.reduced, part_) *
                         std::min(plan_.inner, kColumns) * kCost;
    each_in_parallel(
        threads_, plan_.outer * parts_ * strips, cost,
        [&](int64_t u) { add(x, u / strips, u % strips * kColumns); });
    in_parallel(threads_, plan_.outer * plan_.inner, kWorthAThread / 64,
                [&](int64_t begin, int64_t end) {
                  for (int64_t l = begin; l < end; ++l) store(x, out[0], l);
                });
    return ok_status();
  }

 private:
  static constexpr int64_t kCost = 16;  // of an exponential

  // Sums one part of a line, or of some lines side by side. `number` counts
  // over outer positions and parts.
  void add(const T* x, int64_t number, int64_t column) {
    const int64_t first = number % parts_ * part_;
    const int64_t n = std::min(part_, plan_.reduced - first);
    const auto at = static_cast<size_t>(number * plan_.inner + column);
    x += (number / parts_ * plan_.reduced + first) * plan_.inner + column;
    if (plan_.inner == 1) {
      const ExpSum sum = loops_.exp_below_sum(x, n);
      rests_[at] = sum.rest;
      ones_[at] = sum.one;
      return;
    }
    const int64_t columns = std::min(kColumns, plan_.inner - column);
    loops_.exp_columns(x, n, plan_.inner, columns, &rests_[at]);
    if (gives_both_) {
      largest_.columns(x, n, plan_.inner, columns, &ones_[at]);
    }
  }

  void store(const T* x, void* out, int64_t line) const {
    const ExpSum sum = plan_.inner == 1 ? joined(line) : of_column(x, line);
    if (!gives_both_) return store_real(to_, out, line, sum.others());
    const double one = std::min(sum.one, 1.0);
    store_real(to_, out, line, sum.rest + (sum.one - one));
    store_real(to_, out, plan_.outer * plan_.inner + line, one);
  }
  ExpSum joined(int64_t line) const {
    ExpSum sum;
    for (int64_t p = 0; p < parts_; ++p) {
      const auto at = static_cast<size_t>(
          (line / plan_.inner * parts_ + p) * plan_.inner + line % plan_.inner);
      sum.one += ones_[at];
      sum.rest += rests_[at];
    }
    return sum;
  }
  // Of a column the sum is that of all; `ones_` are its parts' largest elements
  // if they are wanted.
  ExpSum of_column(const T* x, int64_t line) const {
    const double sum = joined(line).rest;
    bool has_one = !gives_both_;
    for (int64_t p = 0; p < parts_ && !has_one; ++p) {
      has_one = ones_[static_cast<size_t>((line / plan_.inner * parts_ + p) *
                                              plan_.inner +
                                          line % plan_.inner)] == 0;
    }
    if (!has_one) return {0, sum};
    if (!(sum < kFarAboveOne)) return {1, sum - 1};
    ExpSum exact;
    x += line / plan_.inner * plan_.reduced * plan_.inner + line % plan_.inner;
    for (int64_t i = 0; i < plan_.reduced; ++i) {
      const auto each = static_cast<double>(x[i * plan_.inner]);
      if (each == 0) {
        exact.one += 1;
      } else {
        exact.rest += std::exp(each);
      }
    }
    return exact;
  }

  Dtype to_;
  bool gives_both_;
  ReducePlan plan_;
  ReduceSource source_;
  const FloatLoops<T>& loops_;
  const ReduceRow<T>& largest_;
  int threads_;
  int64_t part_, parts_;
  std::vector<double> rests_, ones_;  // of each part of a line
};

std::unique_ptr<Kernel> cpu_logsumexp_grad(const Call& call,
                                           const Context& context) {
  const ReducePlan plan = reduce_plan(call.type(1).shape, axis_mask(call, 1));
  if (plan.reorders || plan.inner != 1 ||
      call.type(1).dtype != call.results[0].dtype) {
    return nullptr;
  }
  return make_wide<LogSumExpGrad>(call, context);
}

constexpr KernelRow kExponentialKernels[] = {
    {"logsumexp", make_wide<LogSumExp>},
    {"logsumexp_grad", cpu_logsumexp_grad},
    {"exp_others", make_wide<ExpBelow>},
    {"exp_sums", make_wide<ExpBelow>},
};

}  // namespace

std::span<const KernelRow> exponential_kernels() { return kExponentialKernels; }

}  // namespace gt::exec::cpu
