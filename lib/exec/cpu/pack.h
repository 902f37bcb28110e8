// A pack: one register's worth of floats or doubles. For the loops_*.cc files
// only, which set GT_ISA to a name of their own: all that is compiled with an
// instruction set's flags lives in a namespace that no other file shares.
//
// Elementary functions come from glibc's libmvec by its vector ABI (at most 4
// units in the last place). Against SLEEF's 1-ulp functions, on Zen 5 with
// AVX-512 (ns an element): exp 0.18 and 0.16, tanh 0.18 and 0.96, erf 0.36 and
// 1.48, log 0.20 and 0.26; and it needs no further library.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__AVX512F__)
#define GT_PACK_BYTES 64
#elif defined(__AVX2__)
#define GT_PACK_BYTES 32
#else
#define GT_PACK_BYTES 16
#endif

namespace gt::cpu::GT_ISA {

using F32 [[gnu::vector_size(GT_PACK_BYTES)]] = float;
using F64 [[gnu::vector_size(GT_PACK_BYTES)]] = double;
using I32 [[gnu::vector_size(GT_PACK_BYTES)]] = int32_t;
using I64 [[gnu::vector_size(GT_PACK_BYTES)]] = int64_t;

// Packs of a type, and what a comparison of such packs gives: 0 and -1.
template <typename T>
struct PackOf;
template <>
struct PackOf<float> {
  using type = F32;
  using mask = I32;
};
template <>
struct PackOf<double> {
  using type = F64;
  using mask = I64;
};
template <typename T>
using Pack = typename PackOf<T>::type;
template <typename T>
using Mask = typename PackOf<T>::mask;

template <typename T>
inline constexpr int64_t kWidth = GT_PACK_BYTES / sizeof(T);

template <typename T>
inline Pack<T> splat(T value) {
  return value - Pack<T>{};
}

template <typename T>
inline Pack<T> load(const T* from) {
  Pack<T> pack;
  std::memcpy(&pack, from, sizeof pack);
  return pack;
}
template <typename T>
inline void store(T* to, Pack<T> pack) {
  std::memcpy(to, &pack, sizeof pack);
}

// The first n lanes.
template <typename T>
inline Mask<T> first_lanes(int64_t n) {
  using Lane = std::remove_cvref_t<decltype(Mask<T>{}[0])>;
  Mask<T> lane{};
  for (int64_t i = 0; i < kWidth<T>; ++i) lane[i] = static_cast<Lane>(i);
  return lane < static_cast<Lane>(n);
}

// The first n < kWidth elements; the other lanes are `pad`: by default 1, on
// which no function is slow or fails.
#if GT_PACK_BYTES == 64
inline F32 load_part(const float* from, int64_t n, float pad = 1) {
  const auto lanes = static_cast<__mmask16>((1U << n) - 1);
  return _mm512_mask_loadu_ps(_mm512_set1_ps(pad), lanes, from);
}
inline F64 load_part(const double* from, int64_t n, double pad = 1) {
  const auto lanes = static_cast<__mmask8>((1U << n) - 1);
  return _mm512_mask_loadu_pd(_mm512_set1_pd(pad), lanes, from);
}
inline void store_part(float* to, F32 pack, int64_t n) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << n) - 1), pack);
}
inline void store_part(double* to, F64 pack, int64_t n) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << n) - 1), pack);
}
#elif GT_PACK_BYTES == 32
inline F32 load_part(const float* from, int64_t n, float pad = 1) {
  const I32 lanes = first_lanes<float>(n);
  const F32 part = _mm256_maskload_ps(from, reinterpret_cast<__m256i>(lanes));
  return lanes ? part : splat(pad);
}
inline F64 load_part(const double* from, int64_t n, double pad = 1) {
  const I64 lanes = first_lanes<double>(n);
  const F64 part = _mm256_maskload_pd(from, reinterpret_cast<__m256i>(lanes));
  return lanes ? part : splat(pad);
}
inline void store_part(float* to, F32 pack, int64_t n) {
  const auto lanes = reinterpret_cast<__m256i>(first_lanes<float>(n));
  _mm256_maskstore_ps(to, lanes, pack);
}
inline void store_part(double* to, F64 pack, int64_t n) {
  const auto lanes = reinterpret_cast<__m256i>(first_lanes<double>(n));
  _mm256_maskstore_pd(to, lanes, pack);
}
#else
template <typename T>
inline Pack<T> load_part(const T* from, int64_t n, T pad = 1) {
  Pack<T> pack = splat(pad);
  for (int64_t i = 0; i < n; ++i) pack[i] = from[i];
  return pack;
}
template <typename T, typename V>
inline void store_part(T* to, V pack, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = pack[i];
}
#endif

// a * b + c, rounded once where the instruction set can.
#if GT_PACK_BYTES == 64
inline F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
inline F64 fma(F64 a, F64 b, F64 c) { return _mm512_fmadd_pd(a, b, c); }
// By mask, since the plain form makes GCC 12 warn of its own header.
inline F32 root(F32 x) { return _mm512_maskz_sqrt_ps(0xffff, x); }
inline F64 root(F64 x) { return _mm512_maskz_sqrt_pd(0xff, x); }
#elif GT_PACK_BYTES == 32
inline F32 fma(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a, b, c); }
inline F64 fma(F64 a, F64 b, F64 c) { return _mm256_fmadd_pd(a, b, c); }
inline F32 root(F32 x) { return _mm256_sqrt_ps(x); }
inline F64 root(F64 x) { return _mm256_sqrt_pd(x); }
#else
inline F32 fma(F32 a, F32 b, F32 c) { return a * b + c; }
inline F64 fma(F64 a, F64 b, F64 c) { return a * b + c; }
inline F32 root(F32 x) { return _mm_sqrt_ps(x); }
inline F64 root(F64 x) { return _mm_sqrt_pd(x); }
#endif

}  // namespace gt::cpu::GT_ISA

// libmvec's names: ISA, masked or not, lanes, a "v" for each argument.
#if GT_PACK_BYTES == 64
#define GT_MVEC_F32(args, name) _ZGVeN16##args##_##name##f
#define GT_MVEC_F64(args, name) _ZGVeN8##args##_##name
#elif GT_PACK_BYTES == 32
#define GT_MVEC_F32(args, name) _ZGVdN8##args##_##name##f
#define GT_MVEC_F64(args, name) _ZGVdN4##args##_##name
#else
#define GT_MVEC_F32(args, name) _ZGVbN4##args##_##name##f
#define GT_MVEC_F64(args, name) _ZGVbN2##args##_##name
#endif

#define GT_MVEC_1(name, as)                                \
  extern "C" F32 GT_MVEC_F32(v, name)(F32);                \
  extern "C" F64 GT_MVEC_F64(v, name)(F64);                \
  inline F32 as(F32 x) { return GT_MVEC_F32(v, name)(x); } \
  inline F64 as(F64 x) { return GT_MVEC_F64(v, name)(x); }

namespace gt::cpu::GT_ISA {

GT_MVEC_1(exp, plain_exp)
GT_MVEC_1(log, log)
GT_MVEC_1(sin, sin)
GT_MVEC_1(cos, cos)
GT_MVEC_1(tanh, tanh)
GT_MVEC_1(erf, erf)

extern "C" F32 GT_MVEC_F32(vv, pow)(F32, F32);
extern "C" F64 GT_MVEC_F64(vv, pow)(F64, F64);
inline F32 pow(F32 x, F32 y) { return GT_MVEC_F32(vv, pow)(x, y); }
inline F64 pow(F64 x, F64 y) { return GT_MVEC_F64(vv, pow)(x, y); }

// libmvec takes 20 times longer where the result is 0 or inf, as in the
// softmax of masked logits; so such lanes are kept from it.
template <typename V, typename T>
inline V exp_between(V x, T low, T high) {
  const auto beyond = (x < low) | (x > high);
  const V y = plain_exp(beyond ? V{} : x);
  const V far = x > 0 ? V{} + static_cast<T>(__builtin_inf()) : V{};
  return beyond ? far : y;
}
inline F32 exp(F32 x) { return exp_between(x, -104.0F, 88.75F); }
inline F64 exp(F64 x) { return exp_between(x, -746.0, 709.8); }

}  // namespace gt::cpu::GT_ISA

#undef GT_MVEC_1
