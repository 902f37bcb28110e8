// Converts 16-bit floats to f32 and back, rounded to nearest even; see pack.h
// for who may include this.
#pragma once

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/pack.h"
#include "stream/number.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// A bf16 is the upper half of the bits of an f32.
void bf16_to_f32(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const uint16_t*>(from);
  auto* y = static_cast<float*>(to);
  for (int64_t i = 0; i < n; ++i) y[i] = float_of(uint32_t{x[i]} << 16);
}
void f32_to_bf16(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<uint16_t*>(to);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = bits_of(x[i]);
    const uint32_t near = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const uint32_t nan = (bits >> 16) | 0x40;
    y[i] = static_cast<uint16_t>(x[i] != x[i] ? nan : near);
  }
}

#if GT_PACK_BYTES >= 32
constexpr int64_t kEight = 8;

// Calls eight(x, y, count) for eight elements at a time, as many as `count`
// says; the number is a constant, so that they are moved at once.
template <typename X, typename Y, typename Eight>
void by_eight(const void* from, void* to, int64_t n, const Eight& eight) {
  const auto* x = static_cast<const X*>(from);
  auto* y = static_cast<Y*>(to);
  int64_t i = 0;
  for (; i + kEight <= n; i += kEight) eight(x + i, y + i, size_t{kEight});
  if (i < n) eight(x + i, y + i, static_cast<size_t>(n - i));
}

void f16_to_f32(const void* from, void* to, int64_t n) {
  by_eight<uint16_t, float>(from, to, n,
                            [](const uint16_t* x, float* y, size_t count) {
                              __m128i half = _mm_setzero_si128();
                              std::memcpy(&half, x, count * sizeof *x);
                              const __m256 full = _mm256_cvtph_ps(half);
                              std::memcpy(y, &full, count * sizeof *y);
                            });
}
void f32_to_f16(const void* from, void* to, int64_t n) {
  by_eight<float, uint16_t>(
      from, to, n, [](const float* x, uint16_t* y, size_t count) {
        __m256 full = _mm256_setzero_ps();
        std::memcpy(&full, x, count * sizeof *x);
        const __m128i half = _mm256_cvtps_ph(
            full, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        std::memcpy(y, &half, count * sizeof *y);
      });
}
#else
void f16_to_f32(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const F16*>(from);
  auto* y = static_cast<float*>(to);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}
void f32_to_f16(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<F16*>(to);
  for (int64_t i = 0; i < n; ++i) y[i] = F16::from(x[i]);
}
#endif

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
