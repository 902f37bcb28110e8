// A pack holds as many floats or doubles as fit into one register. This file is
// only for the loops_*.cc files, which each set GT_ISA to a name of their own:
// everything that is compiled with an instruction set's flags lives in a
// namespace that no other file shares.
#pragma once

#include <immintrin.h>

#include <cmath>
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

namespace gt::exec::cpu::GT_ISA {

using F32 [[gnu::vector_size(GT_PACK_BYTES)]] = float;
using F64 [[gnu::vector_size(GT_PACK_BYTES)]] = double;
using I32 [[gnu::vector_size(GT_PACK_BYTES)]] = int32_t;
using I64 [[gnu::vector_size(GT_PACK_BYTES)]] = int64_t;
using U32 [[gnu::vector_size(GT_PACK_BYTES)]] = uint32_t;
using U64 [[gnu::vector_size(GT_PACK_BYTES)]] = uint64_t;

// The pack of a type, and the result of comparing two such packs: 0 or -1 in
// each lane.
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

// Returns a mask of the first n lanes.
template <typename T>
inline Mask<T> first_lanes(int64_t n) {
  using Lane = std::remove_cvref_t<decltype(Mask<T>{}[0])>;
  Mask<T> lane{};
  for (int64_t i = 0; i < kWidth<T>; ++i) lane[i] = static_cast<Lane>(i);
  return lane < static_cast<Lane>(n);
}

// True if some lane of a comparison's result is set.
#if GT_PACK_BYTES == 64
inline bool any(I32 x) {
  const auto pack = reinterpret_cast<__m512i>(x);
  return _mm512_test_epi32_mask(pack, pack) != 0;
}
inline bool any(I64 x) {
  const auto pack = reinterpret_cast<__m512i>(x);
  return _mm512_test_epi64_mask(pack, pack) != 0;
}
#elif GT_PACK_BYTES == 32
inline bool any(I32 x) {
  return _mm256_movemask_ps(reinterpret_cast<__m256>(x)) != 0;
}
inline bool any(I64 x) {
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(x)) != 0;
}
#else
inline bool any(I32 x) {
  return _mm_movemask_ps(reinterpret_cast<__m128>(x)) != 0;
}
inline bool any(I64 x) {
  return _mm_movemask_pd(reinterpret_cast<__m128d>(x)) != 0;
}
#endif

// Loads or stores the first n < kWidth elements. The other lanes of a load are
// `pad`; by default 1, for which no function is slow or fails.
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

// Returns the products of the lower halves of the lanes.
inline U64 multiply_halves(U64 a, U64 b) {
#if GT_PACK_BYTES == 64
  return reinterpret_cast<U64>(_mm512_maskz_mul_epu32(
      0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif GT_PACK_BYTES == 32
  return reinterpret_cast<U64>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a),
                                                reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<U64>(_mm_mul_epu32(reinterpret_cast<__m128i>(a),
                                             reinterpret_cast<__m128i>(b)));
#endif
}

// Returns a bit for each lane of the result of a comparison, and back.
inline uint64_t lane_bits(I32 lanes) {
#if GT_PACK_BYTES == 64
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(lanes));
#elif GT_PACK_BYTES == 32
  return static_cast<uint8_t>(
      _mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
#else
  return static_cast<uint8_t>(_mm_movemask_ps(reinterpret_cast<__m128>(lanes)));
#endif
}
inline I32 lanes_of(uint32_t bits) {
  I32 own{};
  for (int64_t i = 0; i < kWidth<float>; ++i) own[i] = 1 << i;
  return (static_cast<int32_t>(bits) & own) != 0;
}

// Returns x * factor, computed in double.
inline F32 multiply_wide(F32 x, double factor) {
  using Wide [[gnu::vector_size(2 * GT_PACK_BYTES)]] = double;
  return __builtin_convertvector(__builtin_convertvector(x, Wide) * factor,
                                 F32);
}

// Returns a * b + c, rounded once if the instruction set has fma.
#if GT_PACK_BYTES == 64
inline F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
inline F64 fma(F64 a, F64 b, F64 c) { return _mm512_fmadd_pd(a, b, c); }
// The masked forms are used, since the plain ones make GCC 12 warn about its
// own header.
inline F32 least(F32 a, F32 b) { return _mm512_maskz_min_ps(0xffff, a, b); }
inline F32 root(F32 x) { return _mm512_maskz_sqrt_ps(0xffff, x); }
inline F64 root(F64 x) { return _mm512_maskz_sqrt_pd(0xff, x); }
inline F32 round_down(F32 x) {
  return _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_NEG_INF);
}
inline F64 round_down(F64 x) {
  return _mm512_maskz_roundscale_pd(0xff, x, _MM_FROUND_TO_NEG_INF);
}
inline F32 round_even(F32 x) {
  return _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_NEAREST_INT);
}
inline F64 round_even(F64 x) {
  return _mm512_maskz_roundscale_pd(0xff, x, _MM_FROUND_TO_NEAREST_INT);
}
#elif GT_PACK_BYTES == 32
inline F32 fma(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a, b, c); }
inline F64 fma(F64 a, F64 b, F64 c) { return _mm256_fmadd_pd(a, b, c); }
inline F32 least(F32 a, F32 b) { return _mm256_min_ps(a, b); }
inline F32 root(F32 x) { return _mm256_sqrt_ps(x); }
inline F64 root(F64 x) { return _mm256_sqrt_pd(x); }
inline F32 round_down(F32 x) { return _mm256_floor_ps(x); }
inline F64 round_down(F64 x) { return _mm256_floor_pd(x); }
inline F32 round_even(F32 x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline F64 round_even(F64 x) {
  return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#else
inline F32 fma(F32 a, F32 b, F32 c) { return a * b + c; }
inline F64 fma(F64 a, F64 b, F64 c) { return a * b + c; }
inline F32 root(F32 x) { return _mm_sqrt_ps(x); }
inline F64 root(F64 x) { return _mm_sqrt_pd(x); }
template <typename V>
inline V round_down(V x) {
  for (size_t i = 0; i < sizeof x / sizeof x[0]; ++i) x[i] = std::floor(x[i]);
  return x;
}
template <typename V>
inline V round_even(V x) {
  for (size_t i = 0; i < sizeof x / sizeof x[0]; ++i) {
    x[i] = std::nearbyint(x[i]);
  }
  return x;
}
#endif

#if GT_PACK_BYTES != 16
// Picks, for each lane, one of eight numbers by the last three bits of `which`.
inline F32 pick(const float (&from)[8], I32 which) {
  const __m256 all = _mm256_loadu_ps(from);
#if GT_PACK_BYTES == 64
  return _mm512_maskz_permutexvar_ps(0xffff, reinterpret_cast<__m512i>(which),
                                     _mm512_maskz_broadcast_f32x8(0xffff, all));
#else
  return _mm256_permutevar8x32_ps(all, reinterpret_cast<__m256i>(which));
#endif
}
#endif

}  // namespace gt::exec::cpu::GT_ISA
