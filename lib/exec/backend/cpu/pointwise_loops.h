// Point-wise loops, made by applying the formulas to packs; see pack.h for who
// may include this.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "exec/backend/cpu/elementary.h"
#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/pieces.h"
#include "exec/backend/cpu/sine.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// Applies a function to each lane, for functions that libmvec lacks.
template <typename V, typename F>
inline V lanes(V a, V b, F f) {
  V y{};
  for (size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i) y[i] = f(a[i], b[i]);
  return y;
}

// As in Python and PyTorch, the remainder has the divisor's sign.
template <typename T>
inline T floor_mod_one(T a, T b) {
  const T r = std::fmod(a, b);
  return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}
template <typename T>
inline T floor_div_one(T a, T b) {
  if (b == 0) return a / b;
  const T r = std::fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return std::copysign(T{0}, a / b);
  const T f = std::floor(q);
  return q - f > static_cast<T>(0.5) ? f + 1 : f;
}

template <typename V>
inline V greater(V a, V b) {
  return ((a > b) | (a != a)) ? a : b;
}
template <typename V>
inline V lesser(V a, V b) {
  return ((a < b) | (a != a)) ? a : b;
}

template <typename V>
inline V sign(V a) {
  return a > 0 ? number<V>(1) : a < 0 ? number<V>(-1) : V{};
}

template <typename V>
inline V floor_mod_lanes(V a, V b) {
  return lanes(a, b, [](auto x, auto y) { return floor_mod_one(x, y); });
}
template <typename V>
inline V floor_div_lanes(V a, V b) {
  return lanes(a, b, [](auto x, auto y) { return floor_div_one(x, y); });
}

#if GT_PACK_BYTES != 16

// Whether remainder() may be asked: the quotient of each lane is so small that
// its fraction has two bits at least, and the divisor is finite. What is 0, inf
// or nan otherwise makes a quotient that is none of that.
template <typename V>
inline bool divides_near(V quotient, V b) {
  using Of = Format<V>;
  constexpr auto kMost =
      static_cast<ElementOf<V>>(int64_t{1} << (Of::kMantissa - 1));
  return !any_beyond(quotient, kMost) && !any_beyond(b, Of::kLargest);
}

// Returns the remainder of a by b that has the sign of a, as fmod() does, given
// a / b. The whole part of that may be one too large, where a / b was rounded
// up to a whole number. A remainder is a multiple of the last place of b or a
// and not larger than b, so that it is a number of this type, and fma gives it.
template <typename V>
inline V remainder(V a, V b, V quotient) {
  const V whole = with_sign(round_down(magnitude(quotient)), quotient);
  const V r = fma(-whole, b, a);
  const auto beyond = (r != 0) & ((r < 0) != (a < 0));
  return with_sign(magnitude(beyond ? r + with_sign(magnitude(b), a) : r), a);
}

template <typename V>
inline V floor_mod(V a, V b) {
  const V quotient = a / b;
  if (!divides_near(quotient, b)) return floor_mod_lanes(a, b);
  const V r = remainder(a, b, quotient);
  return ((r != 0) & ((b < 0) != (r < 0))) ? r + b : r;
}

// As floor_div_one().
template <typename V>
inline V floor_div(V a, V b) {
  const V quotient = a / b;
  if (!divides_near(quotient, b)) return floor_div_lanes(a, b);
  const V r = remainder(a, b, quotient);
  V q = (a - r) / b;
  q = ((r != 0) & ((b < 0) != (r < 0))) ? q - 1 : q;
  const V f = round_down(q);
  const V y = q - f > number<V>(0.5) ? f + 1 : f;
  return q == 0 ? with_sign(V{}, quotient) : y;
}

#else

// Without fma, elements are computed one by one.
template <typename V>
inline V floor_mod(V a, V b) {
  return floor_mod_lanes(a, b);
}
template <typename V>
inline V floor_div(V a, V b) {
  return floor_div_lanes(a, b);
}

#endif

#define GT_FORMULA_FUNCTIONS
#include "exec/backend/formulas.def"

// An operand of a loop: its elements, or one value for all. At least one
// operand of a loop is not repeated.
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

// These store results: packs of T, or masks as bytes 0 and 1.
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

// Stores map(pack) for the packs of n elements.
template <typename T, typename Map>
inline void map_packs(const void* in, void* out, int64_t n, const Map& map) {
  const auto* x = static_cast<const T*>(in);
  int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) {
    put_any<T>(out, i, map(load(x + i)), kWidth<T>);
  }
  if (i < n) put_any<T>(out, i, map(load_part(x + i, n - i)), n - i);
}

template <typename T, typename F>
const char* unary(const void* const* in, const bool* /*repeat*/, void* out,
                  int64_t n) {
  map_packs<T>(in[0], out, n, [](Pack<T> a) { return F{}(a, a, a); });
  return nullptr;
}

template <typename T, typename F, bool kA, bool kB>
void binary_over(const void* const* in, void* out, int64_t n) {
  const Source<T, kA> a(in[0]);
  const Source<T, kB> b(in[1]);
  int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) {
    const Pack<T> y = b.full(i);
    put_any<T>(out, i, F{}(a.full(i), y, y), kWidth<T>);
  }
  if (i < n) {
    const Pack<T> y = b.part(i, n - i);
    put_any<T>(out, i, F{}(a.part(i, n - i), y, y), n - i);
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

// If all elements have the exponent 2 or 3, no logarithm is needed.
template <typename T, typename F>
const char* power(const void* const* in, const bool* repeat, void* out,
                  int64_t n) {
  using Square = decltype([](auto a, auto, auto) { return a * a; });
  using Cube = decltype([](auto a, auto, auto) { return a * a * a; });
  const T exponent = repeat[1] ? *static_cast<const T*>(in[1]) : T{0};
  if (exponent == T{2}) return unary<T, Square>(in, repeat, out, n);
  if (exponent == T{3}) return unary<T, Cube>(in, repeat, out, n);
  return binary<T, F>(in, repeat, out, n);
}

template <typename T, typename F>
const char* ternary(const void* const* in, const bool* repeat, void* out,
                    int64_t n) {
  if (!repeat[0] && repeat[1] && repeat[2]) {  // such as clamp x -1 1
    const Pack<T> b = splat(*static_cast<const T*>(in[1]));
    const Pack<T> c = splat(*static_cast<const T*>(in[2]));
    map_packs<T>(in[0], out, n, [=](Pack<T> a) { return F{}(a, b, c); });
    return nullptr;
  }
  for (int64_t i = 0; i < n; i += kWidth<T>) {
    const int64_t left = n - i < kWidth<T> ? n - i : kWidth<T>;
    const auto get = [&](size_t k) {
      const T* from = static_cast<const T*>(in[k]);
      if (repeat[k]) return splat<T>(*from);
      return left == kWidth<T> ? load(from + i) : load_part(from + i, left);
    };
    put_any<T>(out, i, F{}(get(0), get(1), get(2)), left);
  }
  return nullptr;
}

// The condition is an array of bytes. The loops are left to the compiler to
// vectorise; they move bits, so no rounding depends on how it does that.
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

template <typename T, int kOperands, Cost kCost, typename F>
constexpr Loop loop_of() {
  if constexpr (kCost == Cost::powering) {
    return power<T, F>;
  } else if constexpr (kOperands == 1) {
    return unary<T, F>;
  } else if constexpr (kOperands == 2) {
    return binary<T, F>;
  } else {
    return ternary<T, F>;
  }
}

template <int kOperands, Cost kCost, typename F>
constexpr PointwiseRow pointwise_row(const char* op, const char* key) {
  using Result = decltype(F{}(F32{}, F32{}, F32{}));
  return {op,
          key,
          !std::is_same_v<Result, F32>,
          kCost != Cost::cheap,
          loop_of<float, kOperands, kCost, F>(),
          loop_of<double, kOperands, kCost, F>()};
}

constexpr PointwiseRow kPointwise[] = {
#define GT_REAL(op, key, operands, cost, formula)                             \
  pointwise_row<operands, Cost::cost,                                         \
                decltype([]<typename V>(                                      \
                             [[maybe_unused]] V a, [[maybe_unused]] V b,      \
                             [[maybe_unused]] V c) { return formula; })>(#op, \
                                                                         key),
#include "exec/backend/formulas.def"
    {"where", "", false, false, where<float>, where<double>},
};

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
