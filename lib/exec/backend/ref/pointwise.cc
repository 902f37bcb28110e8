// Point-wise ops. Operands are rounded to the dtype that the op computes in
// (f16 and bf16 compute in f32), the function is computed in double or int64_t,
// and the result is rounded once.
#include <cmath>
#include <optional>
#include <string>

#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/view.h"

namespace gt::exec::ref {
namespace {

// The functions of an op for floats and for integers; null if it has none.
struct Function {
  const char* op;
  double (*real)(const double* x);
  int64_t (*integer)(const int64_t* x);
  // Returns what is wrong with integer operands, or null.
  const char* (*wrong)(const int64_t* x) = nullptr;
};

// Remainder and quotient, as in Python and PyTorch: the remainder has the
// divisor's sign.
double floor_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}

double floor_div(double a, double b) {
  if (b == 0) return a / b;
  const double r = std::fmod(a, b);
  double q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return std::copysign(0.0, a / b);
  const double f = std::floor(q);
  return q - f > 0.5 ? f + 1 : f;
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;  // the least integer has no negative
  const int64_t r = a % b;
  return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return wrap_sub(0, a);
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t power(int64_t base, int64_t exponent) {
  int64_t out = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = wrap_mul(out, base);
    base = wrap_mul(base, base);
  }
  return out;
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
int64_t sign(int64_t x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// If either operand is nan, the result is nan.
double greater(double a, double b) { return a > b || std::isnan(a) ? a : b; }
double lesser(double a, double b) { return a < b || std::isnan(a) ? a : b; }

// Returns -1, 0 or 1 as i is less than, equal to or more than x; nan if x is.
double order(int64_t i, double x) {
  if (std::isnan(x)) return x;
  if (x >= 0x1p63) return -1;
  if (x < -0x1p63) return 1;
  const auto whole = static_cast<int64_t>(x);
  if (i != whole) return i < whole ? -1 : 1;
  return sign(std::trunc(x) - x);
}

const char* divisor_wrong(const int64_t* x) {
  return x[1] == 0 ? "integer division by zero" : nullptr;
}
const char* exponent_wrong(const int64_t* x) {
  return x[1] < 0 ? "integer to a negative power" : nullptr;
}

using R = const double*;
using I = const int64_t*;

#define GT_BOTH(expression)                 \
  [](R x) -> double { return expression; }, \
      [](I x) -> int64_t { return expression; }

constexpr Function kFunctions[] = {
    {"add", [](R x) { return x[0] + x[1]; },
     [](I x) { return wrap_add(x[0], x[1]); }},
    {"sub", [](R x) { return x[0] - x[1]; },
     [](I x) { return wrap_sub(x[0], x[1]); }},
    {"mul", [](R x) { return x[0] * x[1]; },
     [](I x) { return wrap_mul(x[0], x[1]); }},
    {"div", [](R x) { return x[0] / x[1]; }, nullptr},
    {"pow", [](R x) { return std::pow(x[0], x[1]); },
     [](I x) { return power(x[0], x[1]); }, exponent_wrong},
    {"mod", GT_BOTH(floor_mod(x[0], x[1])), divisor_wrong},
    {"floordiv", GT_BOTH(floor_div(x[0], x[1])), divisor_wrong},
    {"neg", [](R x) { return -x[0]; }, [](I x) { return wrap_sub(0, x[0]); }},
    {"abs", [](R x) { return std::abs(x[0]); },
     [](I x) { return x[0] < 0 ? wrap_sub(0, x[0]) : x[0]; }},
    {"sign", GT_BOTH(sign(x[0]))},
    {"exp", [](R x) { return std::exp(x[0]); }, nullptr},
    {"log", [](R x) { return std::log(x[0]); }, nullptr},
    {"expm1", [](R x) { return std::expm1(x[0]); }, nullptr},
    {"log1p", [](R x) { return std::log1p(x[0]); }, nullptr},
    {"floor", [](R x) { return std::floor(x[0]); }, [](I x) { return x[0]; }},
    {"ceil", [](R x) { return std::ceil(x[0]); }, [](I x) { return x[0]; }},
    {"round", [](R x) { return std::nearbyint(x[0]); },
     [](I x) { return x[0]; }},
    {"sqrt", [](R x) { return std::sqrt(x[0]); }, nullptr},
    {"sin", [](R x) { return std::sin(x[0]); }, nullptr},
    {"cos", [](R x) { return std::cos(x[0]); }, nullptr},
    {"sinh", [](R x) { return std::sinh(x[0]); }, nullptr},
    {"cosh", [](R x) { return std::cosh(x[0]); }, nullptr},
    {"hypot", [](R x) { return std::hypot(x[0], x[1]); }, nullptr},
    {"atan2", [](R x) { return std::atan2(x[0], x[1]); }, nullptr},
    {"tanh", [](R x) { return std::tanh(x[0]); }, nullptr},
    {"erf", [](R x) { return std::erf(x[0]); }, nullptr},
    {"erfc", [](R x) { return std::erfc(x[0]); }, nullptr},
    {"maximum", [](R x) { return greater(x[0], x[1]); },
     [](I x) { return x[0] > x[1] ? x[0] : x[1]; }},
    {"minimum", [](R x) { return lesser(x[0], x[1]); },
     [](I x) { return x[0] < x[1] ? x[0] : x[1]; }},
    {"eq", GT_BOTH(x[0] == x[1])},
    {"ne", GT_BOTH(x[0] != x[1])},
    {"lt", GT_BOTH(x[0] < x[1])},
    {"le", GT_BOTH(x[0] <= x[1])},
    {"gt", GT_BOTH(x[0] > x[1])},
    {"ge", GT_BOTH(x[0] >= x[1])},
    {"and", nullptr, [](I x) { return x[0] & x[1]; }},
    {"or", nullptr, [](I x) { return x[0] | x[1]; }},
    {"not", nullptr, [](I x) { return x[0] ^ 1; }},
    {"isfinite", [](R x) -> double { return std::isfinite(x[0]) ? 1 : 0; },
     [](I) -> int64_t { return 1; }},
    {"where", GT_BOTH(x[0] != 0 ? x[1] : x[2])},
    {"cast", GT_BOTH(x[0])},
};

#undef GT_BOTH

constexpr size_t kMost = 3;

class Pointwise final : public Kernel {
 public:
  Pointwise(const Call& call, const Function& function)
      : function_(function), result_(call.results[0]) {
    for (const Argument& a : call.arguments) {
      if (a.role != Role::kTensor) continue;  // the dtype operand of a cast
      types_[count_] = a.type;
      strides_[count_] = broadcast_strides(a.type.shape, result_.shape);
      ++count_;
    }
    domain_ = domain_of(call);
    integer_ = integer_operand(call);
    is_where_ = call.op->name == "where";
    is_cast_ = call.op->name == "cast";
    is_power_ = call.op->name == "pow";
    round_ = result_.dtype == domain_ ? traits(domain_).computed : domain_;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    Walk<kMost> walk(result_.shape, strides_);
    const int64_t n = result_.elements();
    for (int64_t i = 0; i < n; ++i, walk.next()) {
      if (is_float(domain_)) {
        double x[kMost];
        for (size_t k = 0; k < count_; ++k) x[k] = real(k, in[k], walk[k]);
        if (integer_) {
          const size_t k = *integer_;
          x[k] = order(load_int(Dtype::kI64, in[k], walk[k]), x[1 - k]);
          x[1 - k] = 0;
        }
        store_real(result_.dtype, out[0], i, function_.real(x));
        continue;
      }
      int64_t x[kMost];
      for (size_t k = 0; k < count_; ++k) x[k] = integer(k, in[k], walk[k]);
      const char* wrong = function_.wrong ? function_.wrong(x) : nullptr;
      if (wrong != nullptr) return Error{wrong};
      store_int(result_.dtype, out[0], i, function_.integer(x));
    }
    return ok_status();
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return types_[operand] == result_;
  }

 private:
  double real(size_t k, const void* data, int64_t i) const {
    const Dtype dtype = types_[k].dtype;
    const double x = load_real(dtype, data, i);
    const bool exact = dtype == domain_ || is_cast_ || (is_where_ && k == 0);
    return exact ? x : round_real(round_, x);
  }

  int64_t integer(size_t k, const void* data, int64_t i) const {
    const Dtype dtype = types_[k].dtype;
    if (domain_ == Dtype::kBool || (is_where_ && k == 0)) {
      return load_real(dtype, data, i) != 0 ? 1 : 0;
    }
    // An exponent is no number of the domain: a scalar may be negative there.
    if (is_power_ && k == 1) return load_int(dtype, data, i);
    if (!is_float(dtype)) return wrap_int(domain_, load_int(dtype, data, i));
    int64_t x = 0;  // a cast saturates at the result's own bounds
    store_real(domain_, &x, 0, load_real(dtype, data, i));
    return load_int(domain_, &x, 0);
  }

  const Function& function_;
  Type result_;
  size_t count_ = 0;
  std::array<Type, kMost> types_;
  std::array<Strides, kMost> strides_{};
  Dtype domain_ = Dtype::kF32;  // the dtype that is computed in
  Dtype round_ = Dtype::kF32;   // the dtype that operands are rounded to first
  // The operand that is an i64, in a comparison with a float.
  std::optional<size_t> integer_;
  bool is_where_ = false;
  bool is_cast_ = false;
  bool is_power_ = false;
};

std::unique_ptr<Kernel> ref_pointwise(const Call& call) {
  for (const Function& f : kFunctions) {
    if (call.op->name == f.op) return std::make_unique<Pointwise>(call, f);
  }
  return nullptr;
}

}  // namespace

std::span<const KernelRow> pointwise_kernels() {
  static const auto rows = [] {
    std::array<KernelRow, std::size(kFunctions)> all{};
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = {kFunctions[i].op, ref_pointwise};
    }
    return all;
  }();
  return rows;
}

}  // namespace gt::exec::ref
