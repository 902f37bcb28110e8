// Elementary functions of a pack; see pack.h for who may include this.
//
// With AVX2 and AVX-512, which have fma, exp, log, log1p, sin and cos are
// within one unit in the last place (f64's sin within 1.1), in f32 tanh too;
// f32's erf is within 1.1 and expm1 within two. In f32 a value has the same
// bits with both. They are polynomials that are fitted to the function by
// Lawson's iteration, after its argument was brought near 0. The rest, and all
// with SSE2, come from glibc's libmvec (at most 4 units). SLEEF's functions of
// one unit were measured too; 1 M elements of f32 in ns an element, these,
// SLEEF and libmvec, with AVX-512: exp 0.15 0.17 0.20, log 0.19 0.27 0.20, sin
// 0.19 0.32 0.20, tanh 0.28 1.01 0.20, erf 0.34 1.49 0.37; and with AVX2: exp
// 0.25 0.35 0.27, log 0.33 0.87 0.28, sin 0.37 0.67 0.26, tanh 0.48 1.9 0.56,
// erf 0.63 3.0 0.38.
#pragma once

#include "exec/cpu/mvec.h"
#include "exec/cpu/pack.h"

namespace gt::cpu::GT_ISA {

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

// What an IEEE number of this type is made of, and constants that are cut to
// its digits.
template <typename V>
struct Format;
template <>
struct Format<F32> {
  static constexpr int kMantissa = 23;
  static constexpr int32_t kBias = 127;
  static constexpr int32_t kSign = INT32_MIN;
  static constexpr int32_t kRootHalf = 0x3f3504f3;  // bits of sqrt(1/2)
  static constexpr float kSmallest = 0x1p-126F;     // normal number
  static constexpr float kLargest = 0x1.fffffep127F;
  static constexpr float kRound = 0x1.8p23F;  // its fraction is empty
  // exp is a normal number within +-kNormalExp, 0 or inf beyond the bounds.
  static constexpr float kNormalExp = 87, kLeastExp = -105, kMostExp = 89;
  // ln 2 in two parts, of which the first times an exponent is exact.
  static constexpr float kLn2High = 0x1.62e4p-1F, kLn2Low = 0x1.7f7d1cp-20F;
};
template <>
struct Format<F64> {
  static constexpr int kMantissa = 52;
  static constexpr int64_t kBias = 1023;
  static constexpr int64_t kSign = INT64_MIN;
  static constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kSmallest = 0x1p-1022;
  static constexpr double kLargest = 0x1.fffffffffffffp1023;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kNormalExp = 708, kLeastExp = -746, kMostExp = 710;
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
};

// The exponent's bits of what is not negative.
inline I32 shift_down(I32 x) {
  using U32 [[gnu::vector_size(GT_PACK_BYTES)]] = uint32_t;
  return reinterpret_cast<I32>(reinterpret_cast<U32>(x) >> 23);
}
inline I64 shift_down(I64 x) {
  using U64 [[gnu::vector_size(GT_PACK_BYTES)]] = uint64_t;
  return reinterpret_cast<I64>(reinterpret_cast<U64>(x) >> 52);
}

inline F32 magnitude(F32 x) { return from_bits(bits(x) & INT32_MAX); }
inline F64 magnitude(F64 x) { return from_bits(bits(x) & INT64_MAX); }
// y with the sign of x; y is not negative.
template <typename V>
inline V with_sign(V y, V x) {
  return from_bits(bits(y) | (bits(x) & Format<V>::kSign));
}

// Whether a lane is outside [low, high], as nan is.
#if GT_PACK_BYTES == 64
inline bool any_outside(F32 x, float low, float high) {
  const auto in = _mm512_cmp_ps_mask(x, splat(low), _CMP_GE_OQ);
  return _mm512_mask_cmp_ps_mask(in, x, splat(high), _CMP_LE_OQ) != 0xffff;
}
inline bool any_outside(F64 x, double low, double high) {
  const auto in = _mm512_cmp_pd_mask(x, splat(low), _CMP_GE_OQ);
  return _mm512_mask_cmp_pd_mask(in, x, splat(high), _CMP_LE_OQ) != 0xff;
}
#elif GT_PACK_BYTES == 32
inline bool any_outside(F32 x, float low, float high) {
  const I32 in = (x >= splat(low)) & (x <= splat(high));
  return _mm256_movemask_ps(reinterpret_cast<__m256>(in)) != 0xff;
}
inline bool any_outside(F64 x, double low, double high) {
  const I64 in = (x >= splat(low)) & (x <= splat(high));
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(in)) != 0xf;
}
#endif

template <typename V>
inline V between(V x, ElementOf<V> low, ElementOf<V> high) {
  const V c = x < splat(low) ? splat(low) : x;
  return c > splat(high) ? splat(high) : c;
}

// c[0] + c[1] x + c[2] x^2 + ...
template <typename V, typename T, size_t kCount>
inline V polynomial(V x, const T (&c)[kCount]) {
  V y = splat(c[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) y = fma(y, x, splat(c[i]));
  return y;
}

// exp(r) = 1 + r + r^2 times this, |r| <= ln(2) / 2.
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

// exp(r) - 1 = r + r^2 times this, to more digits near 0.
inline F32 expm1_tail(F32 r) {
  constexpr float kC[] = {0x1p-1F,        0x1.555554p-3F,  0x1.5554bp-5F,
                          0x1.111186p-7F, 0x1.6d7236p-10F, 0x1.a03842p-13F};
  return polynomial(r, kC);
}
inline F64 expm1_tail(F64 r) { return exp_tail(r); }

// 1 + r + r^2 q.
template <typename V>
inline V exp_sum(V r, V q) {
  const V one = number<V>(1);
  return fma(fma(q, r, one), r, one);
}

// exp(x) = 2^n exp(r), n whole and in the last bits of `shifted`.
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

// y 2^n where neither is far from 1; n as in Halvings::shifted.
template <typename V>
inline V times_near_power(V y, V shifted) {
  return from_bits((bits(shifted) << Format<V>::kMantissa) + bits(y));
}

// The same where the result may be subnormal or overflow: by two factors.
template <typename V>
inline V times_far_power(V y, V shifted) {
  using Of = Format<V>;
  const auto n = bits(shifted) - bits(splat(Of::kRound));
  const auto half = n >> 1;
  const V first = from_bits((half + Of::kBias) << Of::kMantissa);
  const V second = from_bits((n - half + Of::kBias) << Of::kMantissa);
  return y * first * second;
}

// exp of what is known to give a normal number.
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
  if (__builtin_expect(any_outside(x, -kBound, kBound), 0)) return exp_far(x);
  return exp_near(x);
}

// exp(x) - 1.
template <typename V>
inline V expm1(V x) {
  using Of = Format<V>;
  // Below, the result is -1.
  const Halvings<V> h(between(x, -50, Of::kMostExp));
  const V p = fma(h.r * h.r, expm1_tail(h.r), h.r);
  const auto n = bits(h.shifted) - bits(splat(Of::kRound));
  // Half the power, since the power itself may overflow before the result.
  const V power = from_bits((n + (Of::kBias - 1)) << Of::kMantissa);
  const V y = 2 * fma(power, p, power - number<V>(0.5));
  return x == 0 ? x : y;
}

// log1p(f) = f - f^2 / 2 + this, sqrt(1/2) <= 1 + f < sqrt(2).
inline F32 log_tail(F32 f, F32 square) {
  constexpr float kC[] = {0x1.555554p-2F, -0x1.000228p-2F, 0x1.99a004p-3F,
                          -0x1.54723p-3F, 0x1.22da8cp-3F,  -0x1.0d8674p-3F,
                          0x1.0558d8p-3F, -0x1.38a8cap-4F};
  return f * square * polynomial(f, kC);
}
// By s = f / (2 + f), in which log1p(f) is odd; as in FreeBSD's e_log.c.
inline F64 log_tail(F64 f, F64 square) {
  constexpr double kC[] = {0x1.5555555555593p-1, 0x1.999999997fa04p-2,
                           0x1.2492494229359p-2, 0x1.c71c51d8e78afp-3,
                           0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3,
                           0x1.2f112df3e5244p-3};
  const F64 s = f / (2 + f);
  const F64 z = s * s;
  return s * fma(z, polynomial(z, kC), 0.5 * square);
}

// log of a positive normal number times 2^-shift, plus a small part.
template <typename V>
inline V log_near(V x, BitsOf<V> shift, V part) {
  using Of = Format<V>;
  constexpr auto kUp = Of::kBias + 1;  // lifts exponents above 0
  const auto above = bits(x) - Of::kRootHalf;
  const auto whole = above & -(decltype(kUp){1} << Of::kMantissa);
  const auto exponent = shift_down(above + (kUp << Of::kMantissa));
  const V f = from_bits(bits(x) - whole) - 1;
  const V k = from_bits(exponent - shift + bits(splat(Of::kRound))) -
              (Of::kRound + static_cast<ElementOf<V>>(kUp));
  const V square = f * f;
  const V low = fma(k, splat(Of::kLn2Low), log_tail(f, square) + part);
  const V tail = fma(square, number<V>(-0.5), low);
  const V high = k * Of::kLn2High;  // exact
  const V sum = high + f;
  return sum + ((f - (sum - high)) + tail);
}

// Where a lane is zero, subnormal, negative, infinite or nan.
template <typename V>
[[gnu::noinline]] V log_far(V x, V part) {
  using Of = Format<V>;
  using Lane = std::remove_cvref_t<decltype(BitsOf<V>{}[0])>;
  const V inf = number<V>(__builtin_inf());
  const auto tiny = x < splat(Of::kSmallest);
  const auto shift = tiny & static_cast<Lane>(Of::kMantissa);
  const V scale = number<V>(static_cast<double>(int64_t{1} << Of::kMantissa));
  V y = log_near<V>(tiny ? x * scale : x, shift, part);
  y = x < inf ? y : x;  // inf and nan stay
  y = x == 0 ? -inf : y;
  return x < 0 ? number<V>(__builtin_nan("")) : y;
}

template <typename V>
inline V log_plus(V x, V part) {
  using Of = Format<V>;
  if (__builtin_expect(any_outside(x, Of::kSmallest, Of::kLargest), 0)) {
    return log_far(x, part);
  }
  return log_near(x, BitsOf<V>{}, part);
}
template <typename V>
inline V log(V x) {
  return log_plus(x, V{});
}

// log(1 + x): what 1 + x lost to rounding is put back.
template <typename V>
inline V log1p(V x) {
  const V u = 1 + x;
  const V lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  const auto usual = (u > 0) & (u < number<V>(__builtin_inf()));
  const V y = log_plus(u, usual ? lost / u : V{});
  return x == 0 ? x : y;
}

// x + x^3 times a polynomial up to 1, from there 1 - 2 / (exp(2 x) + 1).
inline F32 tanh(F32 x) {
  constexpr float kC[] = {-0x1.555552p-2F,  0x1.11105ep-3F,  -0x1.b9fbd8p-5F,
                          0x1.64ebb8p-6F,   -0x1.19a4c8p-7F, 0x1.93833ap-9F,
                          -0x1.b8fc76p-11F, 0x1.fd761ap-14F};
  const F32 a = magnitude(x);
  const F32 most = a > 10.0F ? splat(10.0F) : a;
  const F32 large = 1 - 2 / (exp_near(most + most) + 1);
  const F32 square = x * x;
  const F32 small = fma(polynomial(square, kC) * square, x, x);
  return a >= 1.0F ? with_sign(large, x) : small;
}

// x times a polynomial up to 0.92, from there 1 - exp(-x times another).
inline F32 erf(F32 x) {
  constexpr float kSmall[] = {
      0x1.06eba8p-3F, -0x1.812744p-2F,  0x1.ce2e2p-4F,  -0x1.b8107ap-6F,
      0x1.54dac8p-8F, -0x1.aae8f4p-11F, 0x1.5f0f56p-14F};
  constexpr float kLarge[] = {0x1.07795p-3F,   0x1.453216p-1F, 0x1.b32b98p-4F,
                              -0x1.85668ap-6F, 0x1.ddbd08p-9F, -0x1.531a5ep-12F,
                              0x1.7ad71ep-17F};
  const F32 a = magnitude(x);
  const F32 most = a > 3.95F ? splat(3.95F) : a;
  const F32 power = fma(polynomial(most, kLarge), most, most);
  const F32 large = 1 - exp_near(-power);
  const F32 small = fma(polynomial(x * x, kSmall), x, x);
  return a >= 0.9215F ? with_sign(large, x) : small;
}

#endif

}  // namespace gt::cpu::GT_ISA
