// Softmax and losses along the last axis, row by row: a row that an expansion
// reads several times from memory is read once and kept in cache. f16, bf16 and
// other axes are left to the expansions.
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/distance.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"
#include "exec/memory/part_runs.h"

namespace gt::exec::cpu {
namespace {

// The cost of an exponential: about as many cycles, in bytes as parallel.h
// counts.
constexpr int64_t kExpCost = 16;

// y = softmax x, y = log_softmax x; z = softmax_grad g y, z = log_softmax_grad
// g y.
template <typename T>
class Softmax final : public Kernel {
 public:
  Softmax(const Call& call, const Context& context)
      : rows_(rows_of(call.results[0].shape)), threads_(context.threads) {
    const FloatLoops<T>& loops = loops_for<T>(context);
    const std::string& op = call.op->name;
    if (op == "softmax") forward_ = loops.softmax;
    if (op == "log_softmax") forward_ = loops.log_softmax;
    if (op == "softmax_grad") backward_ = loops.softmax_grad;
    if (op == "log_softmax_grad") backward_ = loops.log_softmax_grad;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(in[0]);
    auto* y = static_cast<T*>(out[0]);
    const int64_t n = rows_.size;
    each_in_parallel(threads_, rows_.count, n * kExpCost, [&](int64_t r) {
      if (forward_ != nullptr) {
        forward_(x + r * n, y + r * n, n);
      } else {
        backward_(x + r * n, static_cast<const T*>(in[1]) + r * n, y + r * n,
                  n);
      }
    });
    return ok_status();
  }

  bool in_place(size_t /*operand*/, size_t /*result*/) const override {
    return true;
  }

 private:
  Lines rows_;
  int threads_;
  void (*forward_)(const T*, T*, int64_t) = nullptr;
  void (*backward_)(const T*, const T*, T*, int64_t) = nullptr;
};

std::unique_ptr<Kernel> cpu_softmax(const Call& call, const Context& context) {
  if (single_axis(call, 0) + 1 != call.type(0).shape.size()) return nullptr;
  return make_float<Softmax>(call, context);
}

// The class of each row. A class must be in [0, classes).
class Targets {
 public:
  Targets(const Type& type, int64_t classes) : type_(type), classes_(classes) {}

  Status read(const void* data) {
    index_.resize(static_cast<size_t>(type_.elements()));
    for (size_t i = 0; i < index_.size(); ++i) {
      index_[i] = load_int(type_.dtype, data, static_cast<int64_t>(i));
      if (index_[i] < 0 || index_[i] >= classes_) {
        return out_of_range(index_[i], {0, classes_, classes_});
      }
    }
    return ok_status();
  }
  int64_t operator[](int64_t row) const {
    return index_[static_cast<size_t>(row)];
  }

 private:
  Type type_;
  int64_t classes_;
  std::vector<int64_t> index_;
};

// cross_entropy x target reduction=: log(sum(exp x)) - x[target], row by row.
template <typename T>
class CrossEntropy final : public Kernel {
 public:
  CrossEntropy(const Call& call, const Context& context)
      : loops_(loops_for<T>(context)),
        rows_(rows_of(call.type(0).shape)),
        targets_(call.type(1), rows_.size),
        reduction_(call.key("reduction")),
        threads_(context.threads),
        losses_(static_cast<size_t>(rows_.count)) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    if (Status s = targets_.read(in[1]); !s.ok()) return s;
    const auto* x = static_cast<const T*>(in[0]);
    auto* y = static_cast<T*>(out[0]);
    const int64_t n = rows_.size;
    each_in_parallel(threads_, rows_.count, n * kExpCost, [&](int64_t r) {
      T largest = 0;
      const ExpSum sum = loops_.exp_sum(x + r * n, n, &largest);
      const double own = static_cast<double>(x[r * n + targets_[r]]);
      losses_[static_cast<size_t>(r)] =
          sum.log() + (static_cast<double>(largest) - own);
    });
    if (reduction_ == "none") {
      for (size_t r = 0; r < losses_.size(); ++r) {
        y[r] = static_cast<T>(losses_[r]);
      }
      return ok_status();
    }
    double total = 0;
    for (const double loss : losses_) total += loss;
    const double count =
        reduction_ == "mean" ? static_cast<double>(losses_.size()) : 1;
    y[0] = static_cast<T>(total / count);
    return ok_status();
  }

 private:
  const FloatLoops<T>& loops_;
  Lines rows_;
  Targets targets_;
  std::string reduction_;
  int threads_;
  std::vector<double> losses_;
};

// z = cross_entropy_grad g x target reduction=: (softmax x - one-hot) g.
template <typename T>
class CrossEntropyGrad final : public Kernel {
 public:
  CrossEntropyGrad(const Call& call, const Context& context)
      : loops_(loops_for<T>(context)),
        rows_(rows_of(call.type(1).shape)),
        targets_(call.type(2), rows_.size),
        each_(call.key("reduction") == "none"),
        count_(call.key("reduction") == "mean" ? rows_.count : 1),
        g_(call.type(0).dtype),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    if (Status s = targets_.read(in[2]); !s.ok()) return s;
    const auto* x = static_cast<const T*>(in[1]);
    auto* z = static_cast<T*>(out[0]);
    const int64_t n = rows_.size;
    each_in_parallel(threads_, rows_.count, n * 2 * kExpCost, [&](int64_t r) {
      const double g = load_real(g_, in[0], each_ ? r : 0);
      const T scale = static_cast<T>(g / static_cast<double>(count_));
      T largest = 0;
      const int64_t own = r * n + targets_[r];
      const ExpSum sum = loops_.exp_sum(x + r * n, n, &largest);
      // The target's own element is computed separately, since the subtraction
      // in softmax - 1 loses digits.
      const double less = std::expm1(static_cast<double>(x[own]) -
                                     static_cast<double>(largest));
      loops_.softmax_scaled(x + r * n, z + r * n, n, largest, sum.all(), scale);
      z[own] = static_cast<T>((less - sum.others()) / sum.all() *
                              static_cast<double>(scale));
    });
    return ok_status();
  }

 private:
  const FloatLoops<T>& loops_;
  Lines rows_;
  Targets targets_;
  bool each_;
  int64_t count_;
  Dtype g_;
  int threads_;
};

// Weights, ignored classes and smoothing are left to the expansion, as are
// logits of another dtype than the loss.
std::unique_ptr<Kernel> cpu_cross_entropy(const Call& call,
                                          const Context& context) {
  if (call.given(2) || call.has_key("ignore_index") ||
      call.number("label_smoothing") != 0 ||
      call.type(0).dtype != call.results[0].dtype) {
    return nullptr;
  }
  return make_float<CrossEntropy>(call, context);
}

constexpr int64_t kLossPart = 8192;  // number of elements summed as one part

// What the sum of the losses of n elements is divided by.
int64_t loss_divisor(const Call& call, int64_t n) {
  if (call.has_key("divisor")) return call.integer("divisor");
  return call.key("reduction") == "mean" ? n : 1;
}

// mse x target, huber x target: the mean or sum of a loss of x - target.
template <typename T>
class Distance final : public Kernel {
 public:
  Distance(const Call& call, const Context& context)
      : is_huber_(call.has_key("delta")),
        loop_(is_huber_ ? loops_for<T>(context).huber
                        : loops_for<T>(context).mse),
        delta_(is_huber_ ? static_cast<T>(call.number("delta")) : T{0}),
        n_(call.type(0).elements()),
        divisor_(loss_divisor(call, n_)),
        threads_(context.threads),
        sums_(static_cast<size_t>((n_ + kLossPart - 1) / kLossPart)) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(in[0]);
    const auto* y = static_cast<const T*>(in[1]);
    each_in_parallel(
        threads_, static_cast<int64_t>(sums_.size()),
        kLossPart * 2 * static_cast<int64_t>(sizeof(T)), [&](int64_t p) {
          const int64_t n = std::min(kLossPart, n_ - p * kLossPart);
          sums_[static_cast<size_t>(p)] =
              loop_(x + p * kLossPart, y + p * kLossPart, n, delta_);
        });
    double total = 0;
    for (const double s : sums_) total += s;
    const long double sum = std::isfinite(total) ? total : again(x, y);
    *static_cast<T*>(out[0]) =
        static_cast<T>(sum / static_cast<double>(divisor_));
    return ok_status();
  }

 private:
  // The sum in a type that has range for all squares.
  long double again(const T* x, const T* y) const {
    const auto delta = static_cast<long double>(delta_);
    long double total = 0;
    for (int64_t i = 0; i < n_; ++i) {
      const long double d = static_cast<long double>(x[i]) - y[i];
      total += is_huber_ ? huber_loss(d, delta) : square_loss(d);
    }
    return total;
  }

  bool is_huber_;
  double (*loop_)(const T*, const T*, int64_t, T);
  T delta_;
  int64_t n_, divisor_;
  int threads_;
  std::vector<double> sums_;
};

std::unique_ptr<Kernel> cpu_distance(const Call& call, const Context& context) {
  if (call.type(0) != call.type(1) || call.key("reduction") == "none") {
    return nullptr;
  }
  return make_float<Distance>(call, context);
}

constexpr KernelRow kNetworkKernels[] = {
    {"softmax", cpu_softmax},
    {"log_softmax", cpu_softmax},
    {"softmax_grad", cpu_softmax},
    {"log_softmax_grad", cpu_softmax},
    {"cross_entropy", cpu_cross_entropy},
    {"cross_entropy_grad", make_float<CrossEntropyGrad>},
    {"mse", cpu_distance},
    {"huber", cpu_distance},
    {"part_mse", cpu_distance},
    {"part_huber", cpu_distance},
};

}  // namespace

std::span<const KernelRow> network_kernels() { return kNetworkKernels; }

}  // namespace gt::exec::cpu
