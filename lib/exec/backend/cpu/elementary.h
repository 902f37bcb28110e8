// Elementary functions of packs; see pack.h for who may include this.
//
// With AVX2 and AVX-512, which have fma, exp, log, log1p, sin and cos are
// within one unit in the last place; so are tanh and erf of f32 (pieces.h).
// expm1 is within two, erfc of f32 within six. An f32 result has the same bits
// with both instruction sets. These functions reduce the argument to near 0 and
// evaluate a polynomial that was fitted by Lawson's iteration. All other
// functions, and all functions with SSE2, come from glibc's libmvec and are
// within 4 units. Nanoseconds per element for 1 M f32 on one core of an EPYC
// 9005, each time these functions first and then libmvec's; the least of many
// runs in turns:
//
//             exp          log          sin          tanh         erf
//   AVX-512   0.10  0.25   0.15  0.22   0.18  0.20   0.16  0.22   0.14  0.38
//   AVX2      0.18  0.39   0.30  0.27   0.35  0.27   0.29  0.55   0.27  0.42
//
// SLEEF's functions of one unit take from 1.6 to 10 times as long as these.
#pragma once

#include "exec/backend/cpu/mvec.h"
#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {

template <typename V>
struct ElementOfPack;
template <>
struct ElementOfPack<F32> {
  using type = float;
};
template <>
struct ElementOfPack<F64> {
  using type = double;
};
template <typename V>
using ElementOf = typename ElementOfPack<V>::type;
template <typename V>
using BitsOf = Mask<ElementOf<V>>;

template <typename V>
inline BitsOf<V> bits(V x) {
  return reinterpret_cast<BitsOf<V>>(x);
}
inline F32 from_bits(I32 x) { return reinterpret_cast<F32>(x); }
inline F64 from_bits(I64 x) { return reinterpret_cast<F64>(x); }

template <typename V>
inline V number(double value) {
  return splat(static_cast<ElementOf<V>>(value));
}

#if GT_PACK_BYTES != 16

// The layout of an IEEE number of this type, and constants cut to its digits.
template <typename V>
struct Format;
template <>
struct Format<F32> {
  static constexpr int kMantissa = 23;
  static constexpr int32_t kBias = 127;
  static constexpr int32_t kSign = INT32_MIN;
  static constexpr int32_t kExponentOne = 1 << kMantissa;
  static constexpr int32_t kRootHalf = 0x3f3504f3;  // bits of sqrt(1/2)
  static constexpr float kSmallest = 0x1p-126F;  // the smallest normal number
  static constexpr float kLargest = 0x1.fffffep127F;
  // Numbers of this size have no fraction bits.
  static constexpr float kRound = 0x1.8p23F;
  // exp(x) is a normal number for |x| <= kNormalExp, 0 below kLeastExp, and inf
  // above kMostExp.
  static constexpr float kNormalExp = 87, kLeastExp = -105, kMostExp = 89;
  // ln 2 in two parts; the first one times an exponent is exact.
  static constexpr float kLn2High = 0x1.62e4p-1F, kLn2Low = 0x1.7f7d1cp-20F;
};
template <>
struct Format<F64> {
  static constexpr int kMantissa = 52;
  static constexpr int64_t kBias = 1023;
  static constexpr int64_t kSign = INT64_MIN;
  static constexpr int64_t kExponentOne = int64_t{1} << kMantissa;
  static constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kSmallest = 0x1p-1022;
  static constexpr double kLargest = 0x1.fffffffffffffp1023;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kNormalExp = 708, kLeastExp = -746, kMostExp = 710;
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
};

inline F32 magnitude(F32 x) { return from_bits(bits(x) & INT32_MAX); }
inline F64 magnitude(F64 x) { return from_bits(bits(x) & INT64_MAX); }
// Returns y with the sign of x; y must not be negative.
template <typename V>
inline V with_sign(V y, V x) {
  return from_bits(bits(y) | (bits(x) & Format<V>::kSign));
}

// True if any lane is outside [-bound, bound], as nan is.
#if GT_PACK_BYTES == 64
inline bool any_beyond(F32 x, float bound) {
  return _mm512_cmp_ps_mask(magnitude(x), splat(bound), _CMP_NLE_UQ) != 0;
}
inline bool any_beyond(F64 x, double bound) {
  return _mm512_cmp_pd_mask(magnitude(x), splat(bound), _CMP_NLE_UQ) != 0;
}
inline bool any_above(I32 x, int32_t most) {
  const auto pack = reinterpret_cast<__m512i>(x);
  return _mm512_cmpgt_epi32_mask(pack, _mm512_set1_epi32(most)) != 0;
}
inline bool any_above(I64 x, int64_t most) {
  const auto pack = reinterpret_cast<__m512i>(x);
  return _mm512_cmpgt_epi64_mask(pack, _mm512_set1_epi64(most)) != 0;
}
#elif GT_PACK_BYTES == 32
inline bool any_beyond(F32 x, float bound) {
  const auto out = _mm256_cmp_ps(magnitude(x), splat(bound), _CMP_NLE_UQ);
  return _mm256_movemask_ps(out) != 0;
}
inline bool any_beyond(F64 x, double bound) {
  const auto out = _mm256_cmp_pd(magnitude(x), splat(bound), _CMP_NLE_UQ);
  return _mm256_movemask_pd(out) != 0;
}
inline bool any_above(I32 x, int32_t most) {
  const auto pack = reinterpret_cast<__m256i>(x);
  const auto above = _mm256_cmpgt_epi32(pack, _mm256_set1_epi32(most));
  return _mm256_movemask_ps(reinterpret_cast<__m256>(above)) != 0;
}
inline bool any_above(I64 x, int64_t most) {
  const auto pack = reinterpret_cast<__m256i>(x);
  const auto above = _mm256_cmpgt_epi64(pack, _mm256_set1_epi64x(most));
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(above)) != 0;
}
#endif

template <typename V>
inline V between(V x, ElementOf<V> low, ElementOf<V> high) {
  const V c = x < splat(low) ? splat(low) : x;
  return c > splat(high) ? splat(high) : c;
}

// Returns c[0] + c[1] x + c[2] x^2 + ...
template <typename V, typename T, size_t kCount>
inline V polynomial(V x, const T (&c)[kCount]) {
  V y = splat(c[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) y = fma(y, x, splat(c[i]));
  return y;
}

// Does the same given x^2, and sums the odd and the even powers at the same
// time. kCount must be even.
template <typename V, typename T, size_t kCount>
inline V polynomial(V x, V square, const T (&c)[kCount]) {
  V even = splat(c[kCount - 2]);
  V odd = splat(c[kCount - 1]);
  for (size_t i = kCount - 2; i >= 2; i -= 2) {
    even = fma(even, square, splat(c[i - 2]));
    odd = fma(odd, square, splat(c[i - 1]));
  }
  return fma(odd, x, even);
}

// exp(r) is 1 + r + r^2 times the result, for |r| <= ln(2) / 2.
inline F32 exp_tail(F32 r) {
  constexpr float kC[] = {0x1.fffffcp-2F, 0x1.55549p-3F, 0x1.5558f2p-5F,
                          0x1.1239f2p-7F, 0x1.6a2412p-10F};
  return polynomial(r, kC);
}
inline F64 exp_tail(F64 r) {
  constexpr double kC[] = {0x1p-1,
                           0x1.5555555555559p-3,
                           0x1.555555555553fp-5,
                           0x1.111111110f6d4p-7,
                           0x1.6c16c16c1ee4fp-10,
                           0x1.a01a01afd63e3p-13,
                           0x1.a01a017c59d6ap-16,
                           0x1.71ddf878a87dcp-19,
                           0x1.27e5352100abbp-22,
                           0x1.af5e7fb880d27p-26,
                           0x1.1ee9e3d94fcfcp-29};
  return polynomial(r, kC);
}

// exp(r) - 1 is r + r^2 times the result, which has more digits near 0.
inline F32 expm1_tail(F32 r) {
  constexpr float kC[] = {0x1p-1F,        0x1.555554p-3F,  0x1.5554bp-5F,
                          0x1.111186p-7F, 0x1.6d7236p-10F, 0x1.a03842p-13F};
  return polynomial(r, kC);
}
inline F64 expm1_tail(F64 r) { return exp_tail(r); }

// Returns 1 + r + r^2 q.
template <typename V>
inline V exp_sum(V r, V q) {
  const V one = number<V>(1);
  return fma(fma(q, r, one), r, one);
}

// Splits exp(x) into 2^n exp(r), with n whole and held in the last bits of
// `shifted`.
template <typename V>
struct Halvings {
  explicit Halvings(V x) {
    using Of = Format<V>;
    shifted = fma(x, number<V>(1.4426950408889634), splat(Of::kRound));
    n = shifted - Of::kRound;
    r = fma(n, splat(-Of::kLn2Low), fma(n, splat(-Of::kLn2High), x));
  }
  V shifted, n, r;
};

// Returns y 2^n, if neither is far from 1; n is given as Halvings::shifted.
template <typename V>
inline V times_near_power(V y, V shifted) {
  return from_bits((bits(shifted) << Format<V>::kMantissa) + bits(y));
}

// Does the same if the result may be subnormal or overflow, by multiplying with
// two factors.
template <typename V>
inline V times_far_power(V y, V shifted) {
  using Of = Format<V>;
  const auto n = bits(shifted) - bits(splat(Of::kRound));
  const auto half = n >> 1;
  const V first = from_bits((half + Of::kBias) << Of::kMantissa);
  const V second = from_bits((n - half + Of::kBias) << Of::kMantissa);
  return y * first * second;
}

// Returns exp(x), which must be a normal number.
template <typename V>
inline V exp_near(V x) {
  const Halvings<V> h(x);
  return times_near_power(exp_sum(h.r, exp_tail(h.r)), h.shifted);
}

template <typename V>
[[gnu::noinline]] V exp_far(V x) {
  const Halvings<V> h(between(x, Format<V>::kLeastExp, Format<V>::kMostExp));
  return times_far_power(exp_sum(h.r, exp_tail(h.r)), h.shifted);
}

template <typename V>
inline V exp(V x) {
  constexpr auto kBound = Format<V>::kNormalExp;
  if (__builtin_expect(any_beyond(x, kBound), 0)) return exp_far(x);
  return exp_near(x);
}

// Returns exp(x) - 1.
template <typename V>
inline V expm1(V x) {
  using Of = Format<V>;
  // Below -50 the result is -1.
  const Halvings<V> h(between(x, -50, Of::kMostExp));
  const V p = fma(h.r * h.r, expm1_tail(h.r), h.r);
  const auto n = bits(h.shifted) - bits(splat(Of::kRound));
  // Half of the power is used, since the power itself may overflow before the
  // result does.
  const V power = from_bits((n + (Of::kBias - 1)) << Of::kMantissa);
  const V y = 2 * fma(power, p, power - number<V>(0.5));
  return x == 0 ? x : y;
}

// Returns log1p(f) - f + rest, where sqrt(1/2) <= 1 + f < sqrt(2).
inline F32 log_tail(F32 f, F32 square, F32 rest) {
  constexpr float kC[] = {0x1.555554p-2F, -0x1.000228p-2F, 0x1.99a004p-3F,
                          -0x1.54723p-3F, 0x1.22da8cp-3F,  -0x1.0d8674p-3F,
                          0x1.0558d8p-3F, -0x1.38a8cap-4F};
  const F32 p = fma(f, polynomial(f, square, kC), splat(-0.5F));
  return fma(square, p, rest);
}
// Computed from s = f / (2 + f), in which log1p(f) is odd, as in FreeBSD's
// e_log.c.
inline F64 log_tail(F64 f, F64 square, F64 rest) {
  constexpr double kC[] = {0x1.5555555555593p-1, 0x1.999999997fa04p-2,
                           0x1.2492494229359p-2, 0x1.c71c51d8e78afp-3,
                           0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3,
                           0x1.2f112df3e5244p-3};
  const F64 s = f / (2 + f);
  const F64 z = s * s;
  const F64 tail = fma(s, fma(z, polynomial(z, kC), 0.5 * square), rest);
  return fma(square, splat(-0.5), tail);
}

// Returns the number in the exponent bits, which may be negative.
inline F32 exponent(I32 x) { return __builtin_convertvector(x >> 23, F32); }
inline F64 exponent(I64 x) {
  // AVX2 can neither shift a negative int64 nor convert one to double. So a
  // constant is added to make it positive, and subtracted at the end.
  using Of = Format<F64>;
  constexpr int64_t kUp = Of::kBias + 1;
  const U64 lifted =
      reinterpret_cast<U64>(x) + (uint64_t{kUp} << Of::kMantissa);
  const I64 whole = reinterpret_cast<I64>(lifted >> Of::kMantissa);
  return from_bits(whole + bits(splat(Of::kRound))) - (Of::kRound + kUp);
}

// Returns log(x) + more * ln(2) + part, where x is positive and normal and part
// is small.
template <typename V>
inline V log_near(V x, V more, V part) {
  using Of = Format<V>;
  const auto above = bits(x) - Of::kRootHalf;
  const auto whole = above & -Of::kExponentOne;
  const V k = exponent(above) + more;
  const V f = from_bits(bits(x) - whole) - 1;
  const V high = fma(k, splat(Of::kLn2High), f);  // the product is exact
  const V lost = f - fma(k, splat(-Of::kLn2High), high);
  const V square = f * f;
  const V low = fma(k, splat(Of::kLn2Low), lost + part);
  return high + log_tail(f, square, low);
}

// Does the same if some lane is zero, subnormal, negative, infinite or nan.
template <typename V>
[[gnu::noinline]] V log_far(V x, V part) {
  using Of = Format<V>;
  const V inf = number<V>(__builtin_inf());
  const auto tiny = x < splat(Of::kSmallest);
  const V scale = number<V>(static_cast<double>(int64_t{1} << Of::kMantissa));
  const V more = tiny ? number<V>(-Of::kMantissa) : V{};
  // The bits of a lane that has no logarithm would overflow, so it is 1 here;
  // its result is replaced below.
  const V positive = x > 0 ? (tiny ? x * scale : x) : number<V>(1);
  V y = log_near<V>(positive, more, part);
  y = x < inf ? y : x;  // inf and nan stay as they are
  y = x == 0 ? -inf : y;
  return x < 0 ? number<V>(__builtin_nan("")) : y;
}

// Returns the bits of x as an integer, rotated so that the positive normal
// numbers are the integers from the least one to -2 * kExponentOne - 1 and no
// other number is among them. One comparison then tells them apart.
inline I32 place(F32 x) {
  return reinterpret_cast<I32>(reinterpret_cast<U32>(x) + 0x7f800000);
}
inline I64 place(F64 x) {
  return reinterpret_cast<I64>(reinterpret_cast<U64>(x) + 0x7ff0000000000000);
}

template <typename V>
inline V log_plus(V x, V part) {
  using Of = Format<V>;
  constexpr auto kLast = -2 * Of::kExponentOne - 1;
  if (__builtin_expect(any_above(place(x), kLast), 0)) return log_far(x, part);
  return log_near(x, -V{}, part);  // the compiler drops what adds -0
}
template <typename V>
inline V log(V x) {
  return log_plus(x, -V{});
}

// Computes log(1 + x), with a correction for what 1 + x lost to rounding.
template <typename V>
inline V log1p(V x) {
  const V u = 1 + x;
  const V lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  const auto usual = (u > 0) & (u < number<V>(__builtin_inf()));
  const V y = log_plus(u, usual ? lost / u : V{});
  return x == 0 ? x : y;
}

#endif

}  // namespace gt::exec::cpu::GT_ISA
