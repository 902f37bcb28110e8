// sin and cos; see elementary.h.
#pragma once

#include "exec/backend/cpu/elementary.h"

#if GT_PACK_BYTES != 16
namespace gt::exec::cpu::GT_ISA {

// pi/2 in three parts. For |x| up to kFar, the number of quarter turns times
// the second part is exact, and so is the remainder of x after fma with the
// first part.
template <typename V>
struct Quarter;
template <>
struct Quarter<F32> {
  static constexpr float kFar = 4000;
  static constexpr float kPart[] = {0x1.921fb6p0F, -0x1.778p-25F,
                                    0x1.68c234p-39F};
  // sin(r) is r + r^3 times the polynomial kSin; cos(r) is 1 + r^2 times kCos.
  static constexpr float kSin[] = {-0x1.555546p-3F, 0x1.110782p-7F,
                                   -0x1.9954d2p-13F};
  static constexpr float kCos[] = {-0.5F, 0x1.55554ap-5F, -0x1.6c0c82p-10F,
                                   0x1.99ff2ep-16F};
};
template <>
struct Quarter<F64> {
  static constexpr double kFar = 1e6;
  static constexpr double kPart[] = {0x1.921fb54442d18p0, 0x1.1a62633100000p-54,
                                     0x1.1701b839a2520p-88};
  static constexpr double kSin[] = {
      -0x1.5555555555549p-3, 0x1.111111110f8a6p-7,   -0x1.a01a019c161d5p-13,
      0x1.71de357b1fe7dp-19, -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33};
  static constexpr double kCos[] = {-0.5,
                                    0x1.555555555554cp-5,
                                    -0x1.6c16c16c15177p-10,
                                    0x1.a01a019cb1590p-16,
                                    -0x1.27e4f809c52adp-22,
                                    0x1.1ee9ebdb4b1c4p-29,
                                    -0x1.8fae9be8838d4p-37};
};

// Returns sin(x + start pi/2) for |x| <= kFar; start is 0 or 1. Both the sine
// and the cosine of the remainder of x are computed, and lanes in an odd
// quarter take the cosine.
template <typename V>
inline V sin_near(V x, int start) {
  using Of = Format<V>;
  using Q = Quarter<V>;
  const V round = number<V>(static_cast<double>(Of::kRound) + start);
  const V a = magnitude(x);  // so that -0 keeps its sign
  const V shifted = fma(a, number<V>(0.6366197723675814), round);
  const V n = shifted - round;
  // The remainder is r + rest.
  const V first = fma(n, splat(-Q::kPart[0]), a);
  const V part = n * Q::kPart[1];  // exact
  const V r = first - part;
  const V second = (first - r) - part;
  const V rest = fma(n, splat(-Q::kPart[2]), second);
  const V square = r * r;
  const V sine = r + fma(r * square, polynomial(square, Q::kSin), rest);
  // The cosine is 1 + (r + rest)^2 p, where p is the polynomial: rest^2 is
  // negligible, and 2 p is near enough to -1 for the product with `rest`.
  const V slope = fma(r, polynomial(square, Q::kCos), -rest);
  const V cosine = fma(r, slope, number<V>(1));
  const auto quarter = bits(shifted);
  constexpr int kTop = sizeof(ElementOf<V>) * 8 - 1;
  const V y = quarter << kTop < 0 ? cosine : sine;
  const auto odd = start == 0 ? bits(x) : BitsOf<V>{};
  return from_bits(bits(y) ^ (((quarter << (kTop - 1)) ^ odd) & Of::kSign));
}

// Does the same if some lane is far from 0, infinite or nan. Such lanes are
// computed by the C library.
template <typename V>
[[gnu::noinline]] V sin_far(V x, int start) {
  using Q = Quarter<V>;
  const auto near = magnitude(x) <= splat(Q::kFar);
  V y = sin_near(near ? x : V{}, start);
  for (size_t i = 0; i < sizeof x / sizeof x[0]; ++i) {
    if (near[i]) continue;
    const double far = static_cast<double>(x[i]);
    y[i] =
        static_cast<ElementOf<V>>(start == 0 ? std::sin(far) : std::cos(far));
  }
  return y;
}

template <typename V>
inline V sin_from(V x, int start) {
  constexpr auto kFar = Quarter<V>::kFar;
  if (__builtin_expect(any_beyond(x, kFar), 0)) {
    return sin_far(x, start);
  }
  return sin_near(x, start);
}
template <typename V>
inline V sin(V x) {
  return sin_from(x, 0);
}
template <typename V>
inline V cos(V x) {
  return sin_from(x, 1);
}

}  // namespace gt::exec::cpu::GT_ISA
#endif
