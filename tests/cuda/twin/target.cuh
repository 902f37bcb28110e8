// The host in place of a GPU: it has what
// lib/exec/backend/cuda/text/gpu_target.cuh has, with loops for blocks and
// threads. The phases of a block run one after the other, and so do the threads
// within a phase. A result that depends on what threads do at once therefore
// differs between the two orders of gt_twin_backwards.
#pragma once

extern "C" {
extern int gt_twin_backwards;
int gt_twin_backwards __attribute__((weak)) = 0;
#define GT_DECLARE(name) \
  float name##f(float);  \
  double name(double);
GT_DECLARE(exp)
GT_DECLARE(log)
GT_DECLARE(expm1)
GT_DECLARE(log1p)
GT_DECLARE(sin)
GT_DECLARE(cos)
GT_DECLARE(sinh)
GT_DECLARE(cosh)
GT_DECLARE(atan)
GT_DECLARE(tanh)
GT_DECLARE(erf)
GT_DECLARE(erfc)
GT_DECLARE(sqrt)
GT_DECLARE(floor)
GT_DECLARE(rint)
#undef GT_DECLARE
#define GT_DECLARE(name)       \
  float name##f(float, float); \
  double name(double, double);
GT_DECLARE(pow)
GT_DECLARE(atan2)
GT_DECLARE(hypot)
GT_DECLARE(fmod)
GT_DECLARE(copysign)
GT_DECLARE(fmax)
#undef GT_DECLARE
float fmaf(float, float, float);
double fma(double, double, double);
}

namespace gt {

using ::int64_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;

inline int64_t turn(int64_t k, int64_t n) {
  return gt_twin_backwards != 0 ? n - 1 - k : k;
}
inline void keep_least(uint64_t* word, uint64_t value) {
  if (value < *word) *word = value;
}
inline void seen_by_host() { __sync_synchronize(); }

inline uint32_t bits_of_float(float x) {
  return __builtin_bit_cast(uint32_t, x);
}
inline float float_of_half(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t digits = bits & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: digits * 2^-24
    const float value = static_cast<float>(digits) * 5.9604644775390625e-8f;
    return __builtin_bit_cast(float, bits_of_float(value) | sign);
  }
  return __builtin_bit_cast(float,
                            sign | (exponent + 112) << 23 | digits << 13);
}
inline uint16_t half_of_float(float value) {
  const uint32_t bits = bits_of_float(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t x = bits & 0x7fffffff;
  uint32_t out;
  if (x >= 0x477ff000) {  // 65520 and more
    out = 0x7c00;
  } else if (x < 0x38800000) {  // below 2^-14 the digits are those of 2^-24
    const float scaled = __builtin_bit_cast(float, x) * 16777216.0f;
    out = static_cast<uint32_t>(::rintf(scaled));
  } else {
    out = (x - 0x38000000 + 0xfff + ((x >> 13) & 1)) >> 13;
  }
  return static_cast<uint16_t>(sign | out);
}
inline uint16_t brain_of_float(float value) {
  const uint32_t x = bits_of_float(value);
  return static_cast<uint16_t>((x + 0x7fff + ((x >> 16) & 1)) >> 16);
}

template <typename T>
struct Own {
  T& of(int t) { return value[t]; }
  T value[kThreads];
};

template <typename F, typename A>
inline void warp_join(Own<A>& x) {
  for (int warp = 0; warp < kThreads; warp += 32) {
    for (int half = 16; half > 0; half /= 2) {
      A joined[32];
      for (int i = 0; i < 32; ++i) {
        joined[i] = F::join(x.value[warp + i], x.value[warp + (i ^ half)]);
      }
      for (int i = 0; i < 32; ++i) x.value[warp + i] = joined[i];
    }
  }
}
template <typename T>
inline T load_last(const void* x) {
  return *static_cast<const T*>(x);
}
template <typename T>
inline void store_16(void* x, const T& value) {
  *static_cast<T*>(x) = value;
}
template <typename T>
inline void store_rest(void* x, const T& value) {
  store_16(x, value);
}

// Each lane computes its own sums.
template <int kCount, typename T>
inline void mma_16_8_16(int lane, float (*c)[4], const T* a, int a_stride,
                        const T* b, int b_stride) {
  for (int j = 0; j < kCount; ++j) {
    for (int i = 0; i < 4; ++i) {
      const T* x = a + (lane / 4 + i / 2 * 8) * a_stride;
      const T* y = b + (8 * j + lane % 4 * 2 + i % 2) * b_stride;
      for (int k = 0; k < 16; ++k) c[j][i] += widen(x[k]) * widen(y[k]);
    }
  }
}

}  // namespace gt

// All kernels are called in one way.
#define GT_KERNEL(name)                                       \
  static void name##_body(const gt::Args& a);                 \
  extern "C" void name(const gt::Args* a, const gt::Items*) { \
    name##_body(*a);                                          \
  }                                                           \
  static void name##_body([[maybe_unused]] const gt::Args& a)
#define GT_ITEMS_KERNEL(name)                                         \
  static void name##_body(const gt::Args& a, const gt::Items& items); \
  extern "C" void name(const gt::Args* a, const gt::Items* items) {   \
    name##_body(*a, *items);                                          \
  }                                                                   \
  static void name##_body(const gt::Args& a, const gt::Items& items)
#define GT_EACH(i, n)                                                        \
  for (gt::int64_t gt_n = (n), gt_k = 0, i = gt::turn(0, gt_n); gt_k < gt_n; \
       ++gt_k, i = gt::turn(gt_k, gt_n))
#define GT_BLOCKS(b, n) GT_EACH(b, n)
#define GT_PHASE(t)                                                   \
  for (int gt_t = 0, t = static_cast<int>(gt::turn(0, gt::kThreads)); \
       gt_t < gt::kThreads;                                           \
       ++gt_t, t = static_cast<int>(gt::turn(gt_t, gt::kThreads)))
#define GT_ALONE(t) GT_PHASE(t)
#define GT_BARRIER() (void)0
#define GT_SHARED
