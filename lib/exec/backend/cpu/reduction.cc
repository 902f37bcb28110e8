// Reductions. Neighbouring axes are joined, so that nearly all reductions have
// the form [outer, reduced, inner]; the others are first copied into that
// order. Sums run over parts of fixed size, whose results are joined in order:
// no bit depends on the number of threads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/copy.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
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

struct Plan {
  int64_t outer = 1, reduced = 1, inner = 1;
  bool reorders = false;
  View order;  // kept dimensions, then reduced ones
};

// With `as_rows`, columns are put into the order of rows as well.
Plan plan_of(const Shape& shape,
             const std::array<bool, Shape::kMaxRank>& reduced,
             bool as_rows = false) {
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
  if (as_rows && plan.inner != 1) plan.reorders = true;
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

// Operand number k in the plan's order and in the dtype that is computed in.
class Source {
 public:
  Source(const Call& call, const Context& context, const Plan& plan,
         Dtype compute, size_t k = 0)
      : type_(call.type(k)),
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

// Returns the loops of a reduction that there is.
template <typename T>
const ReduceRow<T>& reduction(std::string_view op, const Context& context) {
  const ReduceRow<T>* row = nullptr;
  if constexpr (std::is_integral_v<T>) {
    row = whole_loops_for<T>(context).reductions;
  } else {
    row = loops_for<T>(context).reductions;
  }
  while (op != row->op) ++row;
  return *row;
}

// The number of elements of a row, and of rows of columns, that are reduced as
// one part.
constexpr int64_t kRowPart = 4096;
constexpr int64_t kColumnPart = 2048;
// The number of columns that are reduced side by side.
constexpr int64_t kColumns = 256;

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
        plan_(plan_of(call.type(0).shape, axis_mask(call, 0))),
        source_(call, context, plan_, compute),
        threads_(context.threads),
        mean_(call.op->name == "mean"),
        norm_(call.op->name == "norm"),
        chooses_(call.op->row->reduction == gt::Reduction::kMax ||
                 call.op->row->reduction == gt::Reduction::kMin),
        loop_(reduction<T>(mean_ ? "sum" : call.op->name, context)),
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
    if (mean_) total /= static_cast<long double>(plan_.reduced);
    return static_cast<double>(norm_ ? std::sqrt(total) : total);
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
        if (mean_) total /= static_cast<double>(plan_.reduced);
        store_real(to_.dtype, out, r, norm_ ? std::sqrt(total) : total);
      }
    }
  }

  Type to_;
  Plan plan_;
  Source source_;
  int threads_;
  bool mean_, norm_;
  bool chooses_;  // max and min
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
  if (call.number("ord") != 2) return nullptr;
  return cpu_reduction(call, context);
}

// The rows of an operand, each cut into parts that are reduced one by one.
// Columns are first copied into the order of rows.
template <typename T>
class Rows {
 public:
  // Those of operand number k.
  Rows(const Call& call, const Context& context, size_t k = 0)
      : plan_(plan_of(call.type(k).shape, axis_mask(call, k), true)),
        source_(call, context, plan_, dtype_of<T>(), k),
        threads_(context.threads),
        parts_(
            std::max<int64_t>(1, (plan_.reduced + kRowPart - 1) / kRowPart)) {}

  int64_t count() const { return plan_.outer; }
  int64_t size() const { return plan_.reduced; }
  int64_t parts() const { return parts_; }
  const T* get(const void* data) {
    return static_cast<const T*>(source_.get(data));
  }
  // Calls use(row) for each row.
  template <typename Use>
  void each(const Use& use) const {
    each_in_parallel(threads_, plan_.outer,
                     plan_.reduced * static_cast<int64_t>(sizeof(T)), use);
  }
  // Calls use(u, x, n) for each part u, which is the n elements from x on, of
  // all rows, or of row r, whose parts are from r * parts() on.
  template <typename Use>
  void each_part(const T* x, const Use& use) const {
    each_in_parallel(
        threads_, plan_.outer * parts_,
        std::min(plan_.reduced, kRowPart) * static_cast<int64_t>(sizeof(T)),
        [&](int64_t u) { use_part(x, u, use); });
  }
  template <typename Use>
  void each_part_of(int64_t r, const T* x, const Use& use) const {
    for (int64_t p = 0; p < parts_; ++p) use_part(x, r * parts_ + p, use);
  }

 private:
  template <typename Use>
  void use_part(const T* x, int64_t u, const Use& use) const {
    const int64_t row = parts_ == 1 ? u : u / parts_;
    const int64_t first = parts_ == 1 ? 0 : u % parts_ * kRowPart;
    use(static_cast<size_t>(u), x + row * plan_.reduced + first,
        std::min(kRowPart, plan_.reduced - first));
  }

  Plan plan_;
  Source source_;
  int threads_;
  int64_t parts_;
};

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
  Rows<T> rows_;
  std::vector<Scaled> products_;
};

std::unique_ptr<Kernel> cpu_prod(const Call& call, const Context& context) {
  if (!is_float(call.type(0).dtype)) return cpu_reduction(call, context);
  return make_wide<Product>(call, context);
}

// The means of the lines of a tensor, of each of which a reduction makes one
// number, and the sums of the squares of what the elements are off them. The
// squares of the elements less the rounded mean, the shift, are added; what the
// shift lost to rounding, the rest, is then taken off this sum.
template <typename T>
class Moments {
 public:
  // Some elements of a line or, if the reduced axes are not the last ones, some
  // rows of neighbouring lines.
  struct Block {
    const T* x;
    int64_t n;      // elements or rows
    int64_t line;   // the first line
    int64_t lines;  // how many
    size_t at;      // where its sums are
  };
  // The mean and the sum of squares of a line in a type that has range for
  // them.
  struct Far {
    long double mean, square;
  };

  // Operand number k is converted to T.
  Moments(const Call& call, const Context& context, size_t k)
      : plan_(plan_of(call.type(k).shape, axis_mask(call, k))),
        source_(call, context, plan_, dtype_of<T>(), k),
        loops_(loops_for<T>(context)),
        sum_(reduction<T>("sum", context)),
        threads_(context.threads),
        part_(step() == 1 ? kRowPart : kColumnPart),
        parts_(std::max<int64_t>(1, (size() + part_ - 1) / part_)),
        sums_(static_cast<size_t>(lines() * parts_)),
        squares_(sums_.size()),
        shifts_(static_cast<size_t>(lines())) {}

  int64_t lines() const { return plan_.outer * plan_.inner; }
  // The number of a line's elements, and their distance.
  int64_t size() const { return plan_.reduced; }
  int64_t step() const { return plan_.inner; }
  const T* get(const void* data) {
    return static_cast<const T*>(source_.get(data));
  }
  int64_t first(int64_t line) const {
    return Lines{lines(), size(), step()}.first(line);
  }

  // Calls finish(l) for each line l when its sums are there, then use(b) for
  // its blocks b, and then last(l).
  template <typename Finish, typename Use, typename Last>
  void run(const T* x, const Finish& finish, const Use& use, const Last& last) {
    const auto passes = [&](const auto& each_block, const auto& each_line) {
      each_block([&](const Block& b) { add(b); });
      each_line([&](int64_t l) {
        shifts_[static_cast<size_t>(l)] =
            static_cast<T>(total(sums_, l) / static_cast<double>(size()));
      });
      each_block([&](const Block& b) { measure(b); });
      each_line(finish);
      each_block(use);
      each_line(last);
    };
    if (step() == 1 && lines() > 1) {
      // Rows that stay in the cache together; one short row after the other
      // would wait for its own sums.
      const int64_t some = std::max<int64_t>(1, kRowPart / (size() + 1));
      each_in_parallel(threads_, (lines() + some - 1) / some,
                       cost(size() * some), [&](int64_t group) {
                         const int64_t first = group * some;
                         const int64_t end = std::min(lines(), first + some);
                         passes(
                             [&](const auto& pass) {
                               for (int64_t l = first; l < end; ++l) {
                                 for (int64_t p = 0; p < parts_; ++p)
                                   pass(block(x, l, p, 0));
                               }
                             },
                             [&](const auto& pass) {
                               for (int64_t l = first; l < end; ++l) pass(l);
                             });
                       });
      return;
    }
    const int64_t strips = (step() + kColumns - 1) / kColumns;
    passes(
        [&](const auto& pass) {
          each_in_parallel(
              threads_, plan_.outer * parts_ * strips,
              cost(std::min(size(), part_) * std::min(step(), kColumns)),
              [&](int64_t u) {
                pass(block(x, u / strips / parts_, u / strips % parts_,
                           u % strips * kColumns));
              });
        },
        [&](const auto& pass) {
          in_parallel(threads_, lines(), kWorthAThread / 64,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t l = begin; l < end; ++l) pass(l);
                      });
        });
  }

  const T* shifts(int64_t line) const { return shifts_.data() + line; }
  T rest(int64_t line) const {
    return static_cast<T>(total(sums_, line) / static_cast<double>(size()));
  }
  // Returns the sum of squares of a line; none if it may have left the range of
  // T, or lost digits to underflow there.
  std::optional<double> square(int64_t line) const {
    const auto n = static_cast<double>(size());
    const double square = total(squares_, line);
    if (!std::isfinite(square) || square < n * kLeastSquare<T>) return {};
    const double rest = total(sums_, line);
    return std::max(0.0, square - rest * rest / n);
  }
  Far far(const T* x, int64_t line) const {
    x += first(line);
    Far far{};
    for (int64_t i = 0; i < size(); ++i) far.mean += x[i * step()];
    far.mean /= static_cast<long double>(size());
    for (int64_t i = 0; i < size(); ++i) {
      const long double off = x[i * step()] - far.mean;
      far.square += off * off;
    }
    return far;
  }

 private:
  static int64_t cost(int64_t elements) {
    return elements * static_cast<int64_t>(sizeof(T));
  }

  Block block(const T* x, int64_t outer, int64_t part, int64_t column) const {
    const int64_t row = part * part_;
    return {x + (outer * size() + row) * step() + column,
            std::min(part_, size() - row), outer * step() + column,
            std::min(kColumns, step() - column),
            static_cast<size_t>((outer * parts_ + part) * step() + column)};
  }
  void add(const Block& b) {
    if (step() == 1) {
      sums_[b.at] = sum_.row(b.x, b.n);
    } else {
      sum_.columns(b.x, b.n, step(), b.lines, &sums_[b.at]);
    }
  }
  void measure(const Block& b) {
    if (step() == 1) {
      loops_.moments(b.x, b.n, *shifts(b.line), &sums_[b.at], &squares_[b.at]);
    } else {
      loops_.column_moments(b.x, b.n, step(), b.lines, shifts(b.line),
                            &sums_[b.at], &squares_[b.at]);
    }
  }
  // Joins the parts of a line. Short rows would wait for divisions.
  double total(const std::vector<double>& of, int64_t line) const {
    const double* part =
        of.data() +
        (step() == 1 ? line * parts_ : Lines{0, parts_, step()}.first(line));
    double sum = 0;
    for (int64_t p = 0; p < parts_; ++p) sum += part[p * step()];
    return sum;
  }

  Plan plan_;
  Source source_;
  const FloatLoops<T>& loops_;
  const ReduceRow<T>& sum_;
  int threads_;
  int64_t part_, parts_;                // as those of Reduce
  std::vector<double> sums_, squares_;  // of each part
  std::vector<T> shifts_;               // of each line
};

// What the squares of n elements of var and std are divided by.
double divisor_of(const Call& call, int64_t n) {
  return std::max(0.0, static_cast<double>(n) - call.number("correction"));
}

// var and std.
template <typename T>
class Var final : public Kernel {
 public:
  Var(const Call& call, const Context& context)
      : to_(call.results[0].dtype),
        root_(call.op->name == "std"),
        moments_(call, context, 0),
        divisor_(divisor_of(call, moments_.size())) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x = moments_.get(in[0]);
    moments_.run(
        x,
        [&](int64_t l) {
          const auto square = moments_.square(l);
          store_real(to_, out[0], l,
                     square ? value_of(*square)
                            : static_cast<double>(
                                  value_of(moments_.far(x, l).square)));
        },
        [](const auto&) {}, [](int64_t) {});
    return ok_status();
  }

 private:
  template <typename Real>
  Real value_of(Real square) const {
    const Real y = square / divisor_;
    return root_ ? std::sqrt(y) : y;
  }

  Dtype to_;
  bool root_;
  Moments<T> moments_;
  double divisor_;
};

// z = var_grad g x, z = std_grad g x: what x is off the mean of its line, times
// a factor and the g of the line.
template <typename T>
class VarGrad final : public Kernel {
 public:
  VarGrad(const Call& call, const Context& context)
      : root_(call.op->name == "std_grad"),
        loops_(loops_for<T>(context)),
        moments_(call, context, 1),
        divisor_(divisor_of(call, moments_.size())),
        g_(call.type(0), dtype_of<T>(), *context.loops),
        z_(call.results[0], dtype_of<T>(), *context.loops) {
    const auto lines = static_cast<size_t>(moments_.lines());
    rests_.resize(lines);
    factors_.resize(lines);
    far_.resize(lines);
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x = moments_.get(in[1]);
    const T* g = static_cast<const T*>(g_.get(in[0]));
    T* z = static_cast<T*>(z_.place(out[0]));
    moments_.run(
        x,
        [&](int64_t line) {
          const auto l = static_cast<size_t>(line);
          const auto square = moments_.square(line);
          far_[l] = square ? 0 : 1;
          rests_[l] = moments_.rest(line);
          factors_[l] = static_cast<T>(factor_of(square.value_or(0)));
        },
        [&](const auto& b) { spread(b, g + b.line, z + (b.x - x)); },
        [&](int64_t line) {
          if (far_[static_cast<size_t>(line)] != 0)
            spread_far(line, g[line], x, z);
        });
    z_.store(out[0]);
    return ok_status();
  }

 private:
  template <typename Real>
  Real factor_of(Real square) const {
    if (!root_) return Real{2} / divisor_;
    return divisor_ > 0 ? 1 / std::sqrt(square * divisor_)
                        : std::numeric_limits<Real>::quiet_NaN();
  }

  void spread(const typename Moments<T>::Block& b, const T* g, T* z) const {
    const auto l = static_cast<size_t>(b.line);
    if (moments_.step() == 1) {
      loops_.spread(b.x, z, b.n, *moments_.shifts(b.line), rests_[l],
                    factors_[l], *g);
    } else {
      loops_.column_spread(b.x, z, b.n, moments_.step(), b.lines,
                           moments_.shifts(b.line), &rests_[l], &factors_[l],
                           g);
    }
  }
  // Where all elements are equal, the gradient of std is 0.
  void spread_far(int64_t line, T g, const T* x, T* z) const {
    const auto far = moments_.far(x, line);
    const int64_t first = moments_.first(line);
    const int64_t step = moments_.step();
    const bool none = root_ && far.square == 0 && divisor_ > 0;
    // A line with inf has no mean.
    const long double factor = std::isfinite(far.square)
                                   ? none ? 0 : factor_of(far.square)
                                   : far.square - far.square;
    for (int64_t i = first; i < first + moments_.size() * step; i += step) {
      z[i] = static_cast<T>((x[i] - far.mean) * factor * g);
    }
  }

  bool root_;
  const FloatLoops<T>& loops_;
  Moments<T> moments_;
  double divisor_;
  Converted g_;
  Returned z_;
  std::vector<T> rests_, factors_;  // of each line
  std::vector<char> far_;
};

// The lines of the gradient must lie as those of x.
std::unique_ptr<Kernel> cpu_var_grad(const Call& call, const Context& context) {
  if (plan_of(call.type(1).shape, axis_mask(call, 1)).reorders ||
      call.type(1).dtype != call.results[0].dtype) {
    return nullptr;
  }
  return make_wide<VarGrad>(call, context);
}

// The sums of exponentials of rows: of each row the largest element, and the
// sum of exp(x - largest).
template <typename T>
class ExpSums {
 public:
  struct Sum {
    T largest = 0;
    double sum = 0;
  };

  ExpSums(const Call& call, const Context& context, size_t k)
      : exp_sum_(loops_for<T>(context).exp_sum),
        rows_(call, context, k),
        parts_(static_cast<size_t>(rows_.count() * rows_.parts())) {}

  const Rows<T>& rows() const { return rows_; }
  const T* get(const void* data) { return rows_.get(data); }

  // Calls use(r, sum, parts) for each row r. parts(f) calls f(x, n) for its
  // parts, the n elements from x on.
  template <typename Use>
  void run(const T* x, const Use& use) {
    const auto add = [&](size_t u, const T* part, int64_t n) {
      exp_sum_(part, n, &parts_[u].largest, &parts_[u].sum);
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
    total.sum = 0;
    for (int64_t p = 0; p < rows_.parts(); ++p) {
      const double less = static_cast<double>(part[p].largest) -
                          static_cast<double>(total.largest);
      // A part of -inf alone has no sum.
      if (std::isfinite(part[p].largest)) {
        total.sum += part[p].sum * std::exp(less);
      }
    }
    return total;
  }

  void (*exp_sum_)(const T*, int64_t, T*, double*);
  Rows<T> rows_;
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
                 std::isfinite(largest) ? largest + std::log(of.sum) : largest);
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
        scaled_(part, z + (part - x), n, of.largest, of.sum, g);
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

std::unique_ptr<Kernel> cpu_logsumexp_grad(const Call& call,
                                           const Context& context) {
  const Plan plan = plan_of(call.type(1).shape, axis_mask(call, 1));
  if (plan.reorders || plan.inner != 1 ||
      call.type(1).dtype != call.results[0].dtype) {
    return nullptr;
  }
  return make_wide<LogSumExpGrad>(call, context);
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
    {"sum", cpu_reduction},
    {"prod", cpu_prod},
    {"max", cpu_reduction},
    {"min", cpu_reduction},
    {"mean", cpu_mean},
    {"argmax", cpu_argmax},
    {"argmin", cpu_argmax},
    {"norm", cpu_norm},
    {"prod_grad", cpu_prod_grad},
    {"var", make_wide<Var>},
    {"std", make_wide<Var>},
    {"logsumexp", make_wide<LogSumExp>},
    {"logsumexp_grad", cpu_logsumexp_grad},
    {"var_grad", cpu_var_grad},
    {"std_grad", cpu_var_grad},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return kReductionKernels; }

}  // namespace gt::exec::cpu
