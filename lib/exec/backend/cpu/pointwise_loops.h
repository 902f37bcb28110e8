// Point-wise loops: one functor an op, written for packs; see pack.h for who
// may include this.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "exec/backend/cpu/elementary.h"
#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/pieces.h"
#include "exec/backend/cpu/sine.h"

namespace gt::cpu::GT_ISA {
namespace {

// An elementary function of each lane, for those that libmvec lacks.
template <typename V, typename F>
inline V lanes(V a, V b, F f) {
  V y{};
  for (size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i) y[i] = f(a[i], b[i]);
  return y;
}

// The divisor's sign, as Python and PyTorch have it.
template <typename T>
inline T floor_mod(T a, T b) {
  const T r = std::fmod(a, b);
  return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}
template <typename T>
inline T floor_div(T a, T b) {
  if (b == 0) return a / b;
  const T r = std::fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return std::copysign(T{0}, a / b);
  const T f = std::floor(q);
  return q - f > static_cast<T>(0.5) ? f + 1 : f;
}

template <typename V>
inline V sigmoid(V x) {
  return 1 / (1 + exp(-x));
}
template <typename V>
inline V greater(V a, V b) {
  return ((a > b) | (a != a)) ? a : b;
}
template <typename V>
inline V lesser(V a, V b) {
  return ((a < b) | (a != a)) ? a : b;
}

#define GT_UNARY(Name, expression) \
  struct Name {                    \
    template <typename V>          \
    static auto of(V a) {          \
      return expression;           \
    }                              \
  };
#define GT_BINARY(Name, expression) \
  struct Name {                     \
    template <typename V>           \
    static auto of(V a, V b) {      \
      return expression;            \
    }                               \
  };

GT_BINARY(Add, a + b)
GT_BINARY(Sub, a - b)
GT_BINARY(Mul, a* b)
GT_BINARY(Div, a / b)
GT_BINARY(Mod, lanes(a, b, [](auto x, auto y) { return floor_mod(x, y); }))
GT_BINARY(FloorDiv, lanes(a, b, [](auto x, auto y) { return floor_div(x, y); }))
GT_BINARY(Maximum, greater(a, b))
GT_BINARY(Minimum, lesser(a, b))
GT_BINARY(Eq, a == b)
GT_BINARY(Ne, a != b)
GT_BINARY(Lt, a < b)
GT_BINARY(Le, a <= b)
GT_BINARY(Gt, a > b)
GT_BINARY(Ge, a >= b)
GT_UNARY(Neg, -a)
GT_UNARY(Abs, a < 0 ? -a : a + 0)
GT_UNARY(Sign, a > 0 ? number<V>(1) : a < 0 ? number<V>(-1) : V{})
GT_UNARY(Exp, exp(a))
GT_UNARY(Log, log(a))
GT_UNARY(Expm1, expm1(a))
GT_UNARY(Log1p, log1p(a))
GT_UNARY(Floor, round_down(a))
GT_UNARY(Ceil, -round_down(-a))
GT_UNARY(Round, round_even(a))
GT_UNARY(Sqrt, root(a))
GT_UNARY(Rsqrt, 1 / root(a))
GT_UNARY(Sin, sin(a))
GT_UNARY(Cos, cos(a))
GT_UNARY(Tanh, tanh(a))
GT_UNARY(Erf, erf(a))
GT_UNARY(Sigmoid, sigmoid(a))
GT_UNARY(Silu, a* sigmoid(a))
GT_UNARY(Relu, greater(a, V{}))
GT_UNARY(IsFinite, a - a == 0)
GT_BINARY(ReluGrad, b <= 0 ? V{} : a)
GT_BINARY(SigmoidGrad, a*(1 - b) * b)
GT_BINARY(TanhGrad, a*(1 - b * b))

GT_UNARY(Square, a* a)
GT_UNARY(Cube, a* a* a)
// Squares and cubes are products wherever they stand, so that one exponent for
// all gives the bits that it gives beside others.
GT_BINARY(Pow, b == 2 ? a * a : b == 3 ? a * a * a : pow(a, b))

// f = s (1 + x (1 - s)), s = sigmoid x.
struct SiluGrad {
  template <typename V>
  static V of(V g, V x) {
    const V s = sigmoid(x);
    return g * (s * (1 + x * (1 - s)));
  }
};

// Hendrycks and Gimpel, Gaussian error linear units.
constexpr double kRootHalf = 0.7071067811865476;
constexpr double kDensity = 0.3989422804014327;   // 1 / sqrt(2 pi)
constexpr double kTanhRate = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

struct Gelu {
  template <typename V>
  static V of(V x) {
    return x * ((1 + erf(x * number<V>(kRootHalf))) * number<V>(0.5));
  }
};
struct GeluTanh {
  template <typename V>
  static V of(V x) {
    const V slope =
        fma(x * x, number<V>(kCubic * kTanhRate), number<V>(kTanhRate));
    return x * ((1 + tanh(x * slope)) * number<V>(0.5));
  }
};
struct GeluGrad {
  template <typename V>
  static V of(V g, V x) {
    const V cdf = (1 + erf(x * number<V>(kRootHalf))) * number<V>(0.5);
    const V density = exp(x * x * number<V>(-0.5)) * number<V>(kDensity);
    return g * (cdf + x * density);
  }
};
struct GeluTanhGrad {
  template <typename V>
  static V of(V g, V x) {
    const V square = x * x;
    const V u = x * (1 + square * number<V>(kCubic)) * number<V>(kTanhRate);
    const V slope = (1 + square * number<V>(3 * kCubic)) * number<V>(kTanhRate);
    const V t = tanh(u);
    const V half = number<V>(0.5);
    return g * ((1 + t) * half + x * (1 - t * t) * slope * half);
  }
};

// An operand of a loop: its elements, or one value for all. Never are all
// operands repeated.
template <typename T, bool kRepeat>
struct Source {
  explicit Source(const void* data)
      : at(static_cast<const T*>(data)),
        all(kRepeat ? splat<T>(*at) : Pack<T>{}) {}
  Pack<T> full(int64_t i) const { return kRepeat ? all : load(at + i); }
  Pack<T> part(int64_t i, int64_t n) const {
    return kRepeat ? all : load_part(at + i, n);
  }
  const T* at;
  Pack<T> all;
};

// Where results go: packs of T, or masks as bytes 0 and 1.
template <typename T>
inline void put(void* out, int64_t i, Pack<T> y, int64_t n) {
  T* to = static_cast<T*>(out) + i;
  if (n == kWidth<T>) return store(to, y);
  store_part(to, y, n);
}
template <typename T>
inline void put_mask(void* out, int64_t i, Mask<T> y, int64_t n) {
  using Bytes [[gnu::vector_size(kWidth<T>)]] = int8_t;
  const Bytes bytes = __builtin_convertvector(y, Bytes) & 1;
  std::memcpy(static_cast<char*>(out) + i, &bytes, static_cast<size_t>(n));
}
template <typename T, typename Y>
inline void put_any(void* out, int64_t i, Y y, int64_t n) {
  if constexpr (std::is_same_v<Y, Pack<T>>) {
    put<T>(out, i, y, n);
  } else if (n == kWidth<T>) {
    put_mask<T>(out, i, y, kWidth<T>);
  } else {
    put_mask<T>(out, i, y, n);
  }
}

template <typename T, typename F>
const char* unary(const void* const* in, const bool* /*repeat*/, void* out,
                  int64_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) {
    put_any<T>(out, i, F::of(load(x + i)), kWidth<T>);
  }
  if (i < n) put_any<T>(out, i, F::of(load_part(x + i, n - i)), n - i);
  return nullptr;
}

template <typename T, typename F, bool kA, bool kB>
void binary_over(const void* const* in, void* out, int64_t n) {
  const Source<T, kA> a(in[0]);
  const Source<T, kB> b(in[1]);
  int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) {
    put_any<T>(out, i, F::of(a.full(i), b.full(i)), kWidth<T>);
  }
  if (i < n) {
    put_any<T>(out, i, F::of(a.part(i, n - i), b.part(i, n - i)), n - i);
  }
}

template <typename T, typename F>
const char* binary(const void* const* in, const bool* repeat, void* out,
                   int64_t n) {
  if (repeat[1]) {
    binary_over<T, F, false, true>(in, out, n);
  } else if (repeat[0]) {
    binary_over<T, F, true, false>(in, out, n);
  } else {
    binary_over<T, F, false, false>(in, out, n);
  }
  return nullptr;
}

// A common exponent for all costs no logarithm.
template <typename T>
const char* power(const void* const* in, const bool* repeat, void* out,
                  int64_t n) {
  const T exponent = repeat[1] ? *static_cast<const T*>(in[1]) : T{0};
  if (exponent == T{2}) return unary<T, Square>(in, repeat, out, n);
  if (exponent == T{3}) return unary<T, Cube>(in, repeat, out, n);
  return binary<T, Pow>(in, repeat, out, n);
}

// min(max(x, lo), hi), nan staying.
template <typename T>
const char* clamp(const void* const* in, const bool* repeat, void* out,
                  int64_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* low = static_cast<const T*>(in[1]);
  const auto* high = static_cast<const T*>(in[2]);
  for (int64_t i = 0; i < n; i += kWidth<T>) {
    const int64_t left = n - i < kWidth<T> ? n - i : kWidth<T>;
    const auto get = [&](const T* from, bool all) {
      if (all) return splat<T>(*from);
      return left == kWidth<T> ? load(from + i) : load_part(from + i, left);
    };
    const Pack<T> y = lesser(greater(get(x, repeat[0]), get(low, repeat[1])),
                             get(high, repeat[2]));
    put<T>(out, i, y, left);
  }
  return nullptr;
}

// The condition is bytes. Written for the compiler to vectorise; it moves
// bits, so no rounding depends on how.
template <typename T>
const char* where(const void* const* in, const bool* repeat, void* out,
                  int64_t n) {
  const auto* c = static_cast<const uint8_t*>(in[0]);
  const auto* a = static_cast<const T*>(in[1]);
  const auto* b = static_cast<const T*>(in[2]);
  auto* y = static_cast<T*>(out);
  const int64_t step_c = repeat[0] ? 0 : 1;
  if (!repeat[0] && repeat[1] && !repeat[2]) {
    const T all = *a;
    for (int64_t i = 0; i < n; ++i) y[i] = c[i] != 0 ? all : b[i];
  } else if (!repeat[0] && !repeat[1] && repeat[2]) {
    const T all = *b;
    for (int64_t i = 0; i < n; ++i) y[i] = c[i] != 0 ? a[i] : all;
  } else if (!repeat[0] && !repeat[1]) {
    for (int64_t i = 0; i < n; ++i) y[i] = c[i] != 0 ? a[i] : b[i];
  } else {
    const int64_t step_a = repeat[1] ? 0 : 1;
    const int64_t step_b = repeat[2] ? 0 : 1;
    for (int64_t i = 0; i < n; ++i) {
      y[i] = c[i * step_c] != 0 ? a[i * step_a] : b[i * step_b];
    }
  }
  return nullptr;
}

#define GT_ROW1(op, key, costly, Name, to_bool) \
  { op, key, to_bool, costly, unary<float, Name>, unary<double, Name> }
#define GT_ROW2(op, key, costly, Name, to_bool) \
  { op, key, to_bool, costly, binary<float, Name>, binary<double, Name> }

constexpr PointwiseRow kPointwise[] = {
    GT_ROW2("add", "", false, Add, false),
    GT_ROW2("sub", "", false, Sub, false),
    GT_ROW2("mul", "", false, Mul, false),
    GT_ROW2("div", "", false, Div, false),
    GT_ROW2("mod", "", true, Mod, false),
    GT_ROW2("floordiv", "", true, FloorDiv, false),
    {"pow", "", false, true, power<float>, power<double>},
    GT_ROW2("maximum", "", false, Maximum, false),
    GT_ROW2("minimum", "", false, Minimum, false),
    GT_ROW2("eq", "", false, Eq, true),
    GT_ROW2("ne", "", false, Ne, true),
    GT_ROW2("lt", "", false, Lt, true),
    GT_ROW2("le", "", false, Le, true),
    GT_ROW2("gt", "", false, Gt, true),
    GT_ROW2("ge", "", false, Ge, true),
    GT_ROW1("neg", "", false, Neg, false),
    GT_ROW1("abs", "", false, Abs, false),
    GT_ROW1("sign", "", false, Sign, false),
    GT_ROW1("exp", "", true, Exp, false),
    GT_ROW1("log", "", true, Log, false),
    GT_ROW1("expm1", "", true, Expm1, false),
    GT_ROW1("log1p", "", true, Log1p, false),
    GT_ROW1("floor", "", false, Floor, false),
    GT_ROW1("ceil", "", false, Ceil, false),
    GT_ROW1("round", "", false, Round, false),
    GT_ROW1("sqrt", "", false, Sqrt, false),
    GT_ROW1("rsqrt", "", false, Rsqrt, false),
    GT_ROW1("sin", "", true, Sin, false),
    GT_ROW1("cos", "", true, Cos, false),
    GT_ROW1("tanh", "", true, Tanh, false),
    GT_ROW1("erf", "", true, Erf, false),
    GT_ROW1("sigmoid", "", true, Sigmoid, false),
    GT_ROW1("silu", "", true, Silu, false),
    GT_ROW1("relu", "", false, Relu, false),
    GT_ROW1("gelu", "none", true, Gelu, false),
    GT_ROW1("gelu", "tanh", true, GeluTanh, false),
    GT_ROW1("isfinite", "", false, IsFinite, true),
    GT_ROW2("relu_grad", "", false, ReluGrad, false),
    GT_ROW2("sigmoid_grad", "", false, SigmoidGrad, false),
    GT_ROW2("tanh_grad", "", false, TanhGrad, false),
    GT_ROW2("silu_grad", "", true, SiluGrad, false),
    GT_ROW2("gelu_grad", "none", true, GeluGrad, false),
    GT_ROW2("gelu_grad", "tanh", true, GeluTanhGrad, false),
    {"clamp", "", false, false, clamp<float>, clamp<double>},
    {"where", "", false, false, where<float>, where<double>},
};

#undef GT_ROW1
#undef GT_ROW2
#undef GT_UNARY
#undef GT_BINARY

}  // namespace
}  // namespace gt::cpu::GT_ISA
