// tanh, erf and erfc of f32; see elementary.h.
#pragma once

#include "exec/backend/cpu/elementary.h"

#if GT_PACK_BYTES != 16
namespace gt::exec::cpu::GT_ISA {

// An odd function that rises from 0 to 1. The magnitudes up to `most` are cut
// into eight ranges, each with a polynomial of its own. The number of a range
// is three bits of the float `magnitude * scale + offset`, from bit `shift` up.
// Since these bits belong to its exponent and its fraction, the ranges grow
// with the magnitude, as they should. The coefficients of one power for all
// eight ranges fill a register of AVX2, and each lane picks its own. That costs
// less than computing two formulas for all lanes and choosing between them.
template <size_t kDegree>
struct Pieces {
  // From here on the function is 1 in f32.
  float most;
  float scale, offset;  // for the number of a range, as is `shift`
  int shift;
  float first;  // where the first range, which begins at 0, ends
  // The function is value + t coefficient[0] + t^2 coefficient[1] + ..., where
  // t is the magnitude minus the range's centre. Centres are chosen so that the
  // function's value there is an f32 to within a thousandth of a unit in the
  // last place, so `value` adds no error. In the first range, `value` is the
  // magnitude itself.
  float centre[8], value[8], coefficient[kDegree][8];
};

template <size_t kDegree>
inline F32 by_pieces(F32 x, const Pieces<kDegree>& of) {
  const F32 a = least(splat(of.most), magnitude(x));
  const I32 range = bits(fma(a, splat(of.scale), splat(of.offset))) >> of.shift;
  const F32 t = a - pick(of.centre, range);
  F32 p = pick(of.coefficient[kDegree - 1], range);
  for (size_t i = kDegree - 1; i-- > 0;) {
    p = fma(p, t, pick(of.coefficient[i], range));
  }
  const F32 value = a < splat(of.first) ? a : pick(of.value, range);
  return with_sign(fma(p, t, value), x);
}

constexpr Pieces<7> kTanh = {
    .most = 0x1.20a3d8p3F,
    .scale = 0x1.f5p-2F,
    .offset = 0x1.94p0F,
    .shift = 21,
    .first = 0x1.67ba7ap-2F,
    .centre = {0x1.5fbeep0F, 0x1.32b6bap1F, 0x1.b532d8p1F, 0x1.1c19ap2F,
               0x1.7dc6bcp2F, 0x1.fe27eep2F, 0, 0x1.365d58p-1F},
    .value = {0x1.c25b32p-1F, 0x1.f7940cp-1F, 0x1.fee55p-1F, 0x1.ffdb76p-1F,
              0x1.fffe46p-1F, 0x1.fffff8p-1F, 0, 0x1.1536bap-1F},
    .coefficient = {
        {0x1.cf7676p-3F, 0x1.0b472p-5F, 0x1.1a61f6p-8F, 0x1.24458ep-11F,
         0x1.b9fbbp-16F, 0x1.00016ap-21F, 0x1.e93c74p-30F, 0x1.69e842p-1F},
        {-0x1.97a978p-3F, -0x1.06e10ep-5F, -0x1.19c696p-8F, -0x1.243158p-11F,
         -0x1.ba5068p-16F, -0x1.002f2p-21F, -0x1.fabac4p-22F, -0x1.87e5b8p-2F},
        {0x1.983788p-4F, 0x1.52eb92p-6F, 0x1.7613d6p-9F, 0x1.855fap-12F,
         0x1.26d5b2p-16F, 0x1.554b2ep-22F, -0x1.554fc4p-2F, -0x1.d1530cp-6F},
        {-0x1.5d4e1ap-6F, -0x1.3c689cp-7F, -0x1.72a508p-10F, -0x1.84acb4p-13F,
         -0x1.22efb8p-17F, -0x1.513c3ap-23F, -0x1.76f2cep-12F, 0x1.24c986p-3F},
        {-0x1.38f9a2p-7F, 0x1.b426e4p-9F, 0x1.2374dap-11F, 0x1.36409ap-14F,
         0x1.d28802p-19F, 0x1.10caf8p-24F, 0x1.16d326p-3F, -0x1.ac2a3p-5F},
        {0x1.6c872ap-7F, -0x1.7a57dep-11F, -0x1.817fb8p-13F, -0x1.aa5d5ep-16F,
         -0x1.6a13c6p-20F, -0x1.a20bf2p-26F, -0x1.61ef78p-7F, -0x1.ce8b94p-6F},
        {-0x1.17f0c6p-8F, 0x1.64fad6p-20F, 0x1.938662p-15F, 0x1.e237e4p-18F,
         0x1.9751bp-22F, 0x1.bcf226p-28F, -0x1.2af5e4p-5F, 0x1.eae25ap-6F},
    }};
inline F32 tanh(F32 x) { return by_pieces(x, kTanh); }

constexpr Pieces<6> kErf = {
    .most = 0x1.fc28f6p1F,
    .scale = 0x1.158p-2F,
    .offset = 0x1.2cp0F,
    .shift = 20,
    .first = 0x1.2734fep-2F,
    .centre = {0x1.c23334p1F, 0, 0x1.098076p-1F, 0x1.f61eap-1F, 0x1.710a82p0F,
               0x1.e6fd7ep0F, 0x1.2e9844p1F, 0x1.69b674p1F},
    .value = {0x1.ffffeap-1F, 0, 0x1.12c49cp-1F, 0x1.ab482p-1F, 0x1.eac2eap-1F,
              0x1.fc5836p-1F, 0x1.ff9376p-1F, 0x1.fff792p-1F},
    .coefficient = {
        {0x1.44b8acp-18F, 0x1.06eba8p-3F, 0x1.b982fap-1F, 0x1.b9a1d8p-2F,
         0x1.213fa6p-3F, 0x1.efc04ep-6F, 0x1.14972ep-8F, 0x1.92aed2p-12F},
        {-0x1.1c6882p-16F, -0x1.f06076p-21F, -0x1.c9e61ap-2F, -0x1.b11c1ap-2F,
         -0x1.a0f8b2p-3F, -0x1.d7892ep-5F, -0x1.46eecap-7F, -0x1.1c7a8ep-10F},
        {0x1.2bb424p-15F, -0x1.8119e8p-2F, -0x1.101dfep-3F, 0x1.0fd60ep-3F,
         0x1.3053f6p-3F, 0x1.01bc42p-4F, 0x1.d52676p-7F, 0x1.f600d6p-10F},
        {-0x1.e97552p-15F, -0x1.c9dadp-11F, 0x1.77c5a8p-3F, 0x1.36e6fp-4F,
         -0x1.4152fap-5F, -0x1.4d10f4p-5F, -0x1.bd9e68p-7F, -0x1.33691ap-9F},
        {0x1.8f143cp-14F, 0x1.e877d2p-4F, 0x1.3ae892p-9F, -0x1.171f08p-4F,
         -0x1.6cad12p-6F, 0x1.7d3792p-7F, 0x1.18b74ap-7F, 0x1.1741aap-9F},
        {-0x1.714e66p-14F, -0x1.5e01d8p-6F, -0x1.8c79f6p-5F, 0x1.0054a8p-9F,
         0x1.52a2d2p-6F, 0x1.b6e6f8p-9F, -0x1.913176p-9F, -0x1.613d84p-10F},
    }};
inline F32 erf(F32 x) { return by_pieces(x, kErf); }

// With a = |x|, erfc(a) is exp(-a^2) times a polynomial of 1 / (1 + 0.35 a),
// fitted by Lawson's iteration, which has all digits as far as an f32 goes
// down.
inline F32 erfc(F32 x) {
  constexpr float kC[] = {-0x1.8c8f14p-15F, 0x1.969eep-3F,   0x1.7e77aep-3F,
                          0x1.f84486p-3F,   -0x1.d2ab4ap-5F, 0x1.478baap-1F,
                          -0x1.674db2p-1F,  0x1.9f824ap-1F,  -0x1.8db57ep-2F,
                          0x1.07a4e6p-4F};
  const F32 one = splat(1.0F);
  const F32 a = least(splat(10.5F), magnitude(x));
  const F32 t = one / fma(a, splat(0.35F), one);
  // What the square loses is made up for.
  const F32 square = a * a;
  const F32 e = exp(-square);
  const F32 y = fma(-e, fma(a, a, -square), e) * polynomial(t, t * t, kC);
  return x < 0 ? 2 - y : x != x ? x : y;
}

}  // namespace gt::exec::cpu::GT_ISA
#endif
