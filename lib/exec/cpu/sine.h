// Sine and cosine; see elementary.h.
#pragma once

#include <iterator>

#include "exec/cpu/elementary.h"

#if GT_PACK_BYTES != 16
namespace gt::cpu::GT_ISA {

// pi/2 in three parts. Up to kFar, a count of quarters times the second is
// exact, and so is what fma leaves of x by the first.
template <typename V>
struct Quarter;
template <>
struct Quarter<F32> {
  static constexpr float kFar = 4000;
  static constexpr float kPart[] = {0x1.921fb6p0F, -0x1.778p-25F,
                                    0x1.68c234p-39F};
  // sin(r) = r + r^3 times the first; cos(r) = 1 + r^2 times the second.
  static constexpr float kSin[] = {-0x1.555556p-3F, 0x1.111108p-7F,
                                   -0x1.a00f74p-13F, 0x1.6ccf2ap-19F};
  static constexpr float kCos[] = {-0.5F, 0x1.55554ap-5F, -0x1.6c0c82p-10F,
                                   0x1.99ff2ep-16F};
};
template <>
struct Quarter<F64> {
  static constexpr double kFar = 1e6;
  static constexpr double kPart[] = {0x1.921fb544p0, 0x1.0b4611a6p-34,
                                     0x1.3198a2e037073p-69};
  static constexpr double kSin[] = {-0x1.5555555555549p-3,
                                    0x1.111111110f8a6p-7,
                                    -0x1.a01a019c161d5p-13,
                                    0x1.71de357b1fe7dp-19,
                                    -0x1.ae5e68a2b9cebp-26,
                                    0x1.5d93a5acfd57cp-33,
                                    0};
  static constexpr double kCos[] = {-0.5,
                                    0x1.555555555554cp-5,
                                    -0x1.6c16c16c15177p-10,
                                    0x1.a01a019cb1590p-16,
                                    -0x1.27e4f809c52adp-22,
                                    0x1.1ee9ebdb4b1c4p-29,
                                    -0x1.8fae9be8838d4p-37};
};

// sin(x + start pi/2), of |x| <= kFar. The lanes with an odd quarter take the
// cosine of what is left, by other coefficients.
template <typename V>
inline V sin_near(V x, int start) {
  using Of = Format<V>;
  using Q = Quarter<V>;
  const V shifted = fma(x, number<V>(0.6366197723675814), splat(Of::kRound));
  const V n = shifted - Of::kRound;
  const V first = fma(n, splat(-Q::kPart[0]), x);
  V r = fma(n, splat(-Q::kPart[1]), first);
  const V second = fma(n, splat(-Q::kPart[1]), first - r);
  V rest = fma(n, splat(-Q::kPart[2]), second);
  if constexpr (sizeof(ElementOf<V>) == sizeof(double)) {
    // Of many quarters the third part is several units of r, but what follows
    // takes the slope at r for 1 or r, which is near enough for less than one.
    const V sum = r + rest;
    rest -= sum - r;
    r = sum;
  }
  const auto quarter = bits(shifted) + start;
  const auto cosine = (quarter & 1) != 0;
  const V z = r * r;
  const V lost = fma(r, r, -z);
  constexpr size_t kCount = std::size(Q::kSin);
  V p = cosine ? splat(Q::kCos[kCount - 1]) : splat(Q::kSin[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) {
    p = fma(p, z, cosine ? splat(Q::kCos[i]) : splat(Q::kSin[i]));
  }
  const V base = cosine ? number<V>(1) : r;
  const V low = cosine ? fma(lost, number<V>(-0.5), -r * rest) : rest;
  const V y = base + fma(z * base, p, low);
  constexpr int kTop = sizeof(ElementOf<V>) * 8 - 2;
  return from_bits(bits(y) ^ ((quarter & 2) << kTop));
}

// The same where a lane is far from 0, infinite or nan: the C library counts
// the quarters of such lanes.
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
  if (__builtin_expect(any_outside(x, -kFar, kFar), 0)) {
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

}  // namespace gt::cpu::GT_ISA
#endif
