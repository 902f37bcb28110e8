// tanh, erf and erfc of f32; see elementary.h.
#pragma once

#include "exec/backend/cpu/elementary.h"

#if GT_PACK_BYTES != 16
namespace gt::exec::cpu::GT_ISA {

// A function of the magnitude. The magnitudes up to `most` are cut into eight
// ranges, each with a polynomial of its own. The number of a range is three
// bits of the float `magnitude * scale + offset`, from bit `shift` up. Where
// these bits belong to its exponent and its fraction, the ranges grow with the
// magnitude. The coefficients of one power for all eight ranges fill a register
// of AVX2, and each lane picks its own. That costs less than computing two
// formulas for all lanes and choosing between them.
template <size_t kDegree>
struct Pieces {
  float most;
  float scale, offset;  // for the number of a range, as is `shift`
  int shift;
  float first;  // below it `value` is the magnitude itself
  // The function is value + t coefficient[0] + t^2 coefficient[1] + ..., where
  // t is the magnitude minus the range's centre. Centres are chosen so that the
  // function's value there is an f32 to within a thousandth of a unit in the
  // last place, so `value` adds no error.
  float centre[8], value[8], coefficient[kDegree][8];
};

template <size_t kDegree>
inline I32 range_of(F32 a, const Pieces<kDegree>& of) {
  return bits(fma(a, splat(of.scale), splat(of.offset))) >> of.shift;
}

// Returns value + t coefficient[0] + ..., for magnitude a in this range.
template <size_t kDegree>
inline F32 in_range(I32 range, F32 a, F32 value, const Pieces<kDegree>& of) {
  const F32 t = a - pick(of.centre, range);
  F32 p = pick(of.coefficient[kDegree - 1], range);
  for (size_t i = kDegree - 1; i-- > 0;) {
    p = fma(p, t, pick(of.coefficient[i], range));
  }
  return fma(p, t, value);
}

// An odd function, which rises from 0 to 1 and is 1 beyond the ranges.
template <size_t kDegree>
inline F32 by_pieces(F32 x, const Pieces<kDegree>& of) {
  const F32 a = least(splat(of.most), magnitude(x));
  const I32 range = range_of(a, of);
  const F32 value = a < splat(of.first) ? a : pick(of.value, range);
  return with_sign(in_range(range, a, value, of), x);
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

// erfc falls so far that its digits count in all ranges. So all ranges have one
// width, and the number of a range is a multiple of the magnitude, rounded.
constexpr Pieces<6> kErfc = {
    .most = 0x1.3cp1F,
    .scale = 0x1.83e0f8p1F,
    .offset = 0x1p23F,
    .shift = 0,
    .first = 0,
    .centre = {0, 0x1.51ebc2p-2F, 0x1.51ea9p-1F, 0x1.fadf7ap-1F, 0x1.51f24ap0F,
               0x1.a6686p0F, 0x1.fade84p0F, 0x1.27abb4p1F},
    .value = {1, 0x1.480c82p-1F, 0x1.670b32p-2F, 0x1.4abf56p-3F, 0x1.fb33fep-5F,
              0x1.417d64p-6F, 0x1.4ed1dap-8F, 0x1.1d348p-10F},
    .coefficient = {
        {-0x1.20dd76p0F, -0x1.030f52p0F, -0x1.75b94p-1F, -0x1.b1a024p-2F,
         -0x1.9487f4p-3F, -0x1.2fac16p-4F, -0x1.6eb95ap-6F, -0x1.64283ep-8F},
        {0x1.588b1ap-18F, 0x1.55f5cp-2F, 0x1.ed4f5p-2F, 0x1.ad4886p-2F,
         0x1.0b02ecp-2F, 0x1.f5119ap-4F, 0x1.6b0cb2p-5F, 0x1.9b5944p-7F},
        {0x1.81006ep-2F, 0x1.0e2e0ep-2F, 0x1.00de16p-5F, -0x1.158acep-3F,
         -0x1.4f21ecp-3F, -0x1.c1f952p-4F, -0x1.a21cp-5F, -0x1.1f0dp-6F},
        {0x1.f5e9f2p-10F, -0x1.3d224ep-3F, -0x1.5e16b2p-3F, -0x1.299666p-4F,
         0x1.5983fep-6F, 0x1.984da8p-5F, 0x1.24d63cp-5F, 0x1.06f9d8p-6F},
        {-0x1.fec868p-4F, -0x1.de457cp-5F, 0x1.1dcca4p-5F, 0x1.19694p-4F,
         0x1.36b134p-5F, 0x1.52c608p-12F, -0x1.a4e60ep-7F, -0x1.395fecp-7F},
        {0x1.0a930cp-5F, 0x1.84978p-5F, 0x1.37e9d4p-5F, -0x1.cb52fep-9F,
         -0x1.699b0cp-6F, -0x1.a9906ep-7F, -0x1.b52328p-11F, 0x1.91626ap-9F},
    }};

// Beyond these ranges, erfc(a) is exp(-a^2) times a polynomial of
// 1 / (1 + 0.35 a), fitted by Lawson's iteration, as far as an f32 goes down.
inline F32 erfc_far(F32 a) {
  constexpr float kC[] = {0x1.c4c734p-16F, 0x1.93274p-3F,  0x1.a0a178p-3F,
                          0x1.39c428p-3F,  0x1.0fd2f6p-2F, -0x1.3b02bap-4F,
                          0x1.3e1cb8p-2F,  -0x1.a0849ap-5F};
  const F32 one = splat(1.0F);
  const F32 c = least(splat(10.5F), a);
  const F32 t = one / fma(c, splat(0.35F), one);
  // What the square loses is made up for.
  const F32 square = c * c;
  const F32 e = exp(-square);
  return fma(-e, fma(c, c, -square), e) * polynomial(t, t * t, kC);
}

// Returns y, or erfc(a) in the lanes where that is beyond the ranges.
[[gnu::noinline]] inline F32 erfc_or_far(F32 y, F32 a) {
  return a > splat(kErfc.most) ? erfc_far(a) : y;
}

// Few numbers are so large that they need the exp.
inline F32 erfc(F32 x) {
  const F32 a = magnitude(x);
  const F32 c = least(splat(kErfc.most), a);
  const I32 range = range_of(c, kErfc);
  F32 y = in_range(range, c, pick(kErfc.value, range), kErfc);
  if (__builtin_expect(any_beyond(a, kErfc.most), 0)) y = erfc_or_far(y, a);
  return x < 0 ? 2 - y : y;
}

}  // namespace gt::exec::cpu::GT_ISA
#endif
