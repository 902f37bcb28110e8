// An exponential that is short enough to be used inside a loop over scores; see
// pack.h for who may include this.
#pragma once

#include "exec/backend/cpu/elementary.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

#if GT_PACK_BYTES == 64
// Returns y * 2^n; n must be whole.
inline F32 times_power(F32 y, F32 n) {
  return _mm512_maskz_scalef_ps(0xffff, y, n);
}
#else
inline F32 times_power(F32 y, F32 n) {
  const I32 whole = __builtin_convertvector(n, I32);
  const I32 bits = (whole + 127) << 23;
  return whole < -126 ? F32{} : y * reinterpret_cast<F32>(bits);
}
#endif

// Returns exp(x) to 2 units in the last place: 2^n exp(r), with n whole and r
// within ln(2) / 2 of 0, where exp(r) is 1 + r + r^2 times a polynomial that is
// fitted to it (Lawson's iteration; error 0.05 units). It is 0 below -105
// (without AVX-512, wherever the result would be subnormal); nan stays nan.
inline F32 quick_exp(F32 x) {
  // 1.5 * 2^23: such numbers have no fraction bits.
  constexpr float kRound = 12582912;
  const F32 low = splat(-105.0F);
  const F32 high = splat(89.0F);
  const F32 c = x < low ? low : x > high ? high : x;
  const F32 n = fma(c, splat(1.44269504F), splat(kRound)) - kRound;
  F32 r = fma(n, splat(-0.693359375F), c);  // ln 2 in two parts, the first
  r = fma(n, splat(2.12194440e-4F), r);  // short, so that n times it is exact
  F32 p = fma(splat(0.0013814539F), r, splat(0.0083687454F));
  p = fma(p, r, splat(0.041668389F));
  p = fma(p, r, splat(0.16666521F));
  p = fma(p, r, splat(0.49999994F));
  p = fma(p, r * r, r) + 1;
  return times_power(p, n);
}
inline F64 quick_exp(F64 x) { return exp(x); }

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
