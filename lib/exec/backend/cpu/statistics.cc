// What takes several passes over the same elements: var, std and their
// gradients.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/cpu/reduce_plan.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {
namespace {

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
      : plan_(reduce_plan(call.type(k).shape, axis_mask(call, k))),
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
      // ReduceRows that stay in the cache together; one short row after the
      // other would wait for its own sums.
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
  // T, or lost digits to underflow there or to what the shift lost to rounding,
  // as where elements are all but equal.
  std::optional<double> square(int64_t line) const {
    const auto n = static_cast<double>(size());
    const double square = total(squares_, line);
    if (!std::isfinite(square) || square < n * kLeastSquare<T>) return {};
    const double rest = total(sums_, line);
    const double left = square - rest * rest / n;
    if (left < square / 2) return {};
    return left;
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

  ReducePlan plan_;
  ReduceSource source_;
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
  if (reduce_plan(call.type(1).shape, axis_mask(call, 1)).reorders ||
      call.type(1).dtype != call.results[0].dtype) {
    return nullptr;
  }
  return make_wide<VarGrad>(call, context);
}

constexpr KernelRow kStatisticKernels[] = {
    {"var", make_wide<Var>},
    {"std", make_wide<Var>},
    {"var_grad", cpu_var_grad},
    {"std_grad", cpu_var_grad},
};

}  // namespace

std::span<const KernelRow> statistic_kernels() { return kStatisticKernels; }

}  // namespace gt::exec::cpu
