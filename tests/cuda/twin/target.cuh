// The host in a GPU's place: what lib/exec/backend/cuda/text/gpu_target.cuh
// says, with blocks and threads as loops. Phases of a block run one after the
// other, and within a phase one thread after the other, so a result that
// depends on what threads do at once differs between the two orders that
// gt_twin_backwards stands for.
#pragma once

extern "C" {
extern int gt_twin_backwards;
int gt_twin_backwards __attribute__((weak)) = 0;
#define GT_DECLARE(name)   \
  float name##f(float); \
  double name(double);
GT_DECLARE(exp)
GT_DECLARE(log)
GT_DECLARE(expm1)
GT_DECLARE(log1p)
GT_DECLARE(sin)
GT_DECLARE(cos)
GT_DECLARE(tanh)
GT_DECLARE(erf)
GT_DECLARE(sqrt)
GT_DECLARE(floor)
GT_DECLARE(rint)
#undef GT_DECLARE
#define GT_DECLARE(name)          \
  float name##f(float, float); \
  double name(double, double);
GT_DECLARE(pow)
GT_DECLARE(fmod)
GT_DECLARE(copysign)
#undef GT_DECLARE
float fmaf(float, float, float);
double fma(double, double, double);
}

namespace gt {

using ::int64_t;
using ::uint64_t;

inline int64_t turn(int64_t k, int64_t n) {
  return gt_twin_backwards != 0 ? n - 1 - k : k;
}
inline void keep_least(uint64_t* word, uint64_t value) {
  if (value < *word) *word = value;
}
inline void seen_by_host() { __sync_synchronize(); }

template <typename T>
struct Own {
  T& of(int t) { return value[t]; }
  T value[kThreads];
};

// Each lane computes the sums that are its own.
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

#define GT_KERNEL(name)                                                \
  static void name##_body(const gt::Args& a);                          \
  extern "C" void name(const gt::Args* args) { name##_body(*args); } \
  static void name##_body([[maybe_unused]] const gt::Args& a)
#define GT_EACH(i, n)                                              \
  for (gt::int64_t gt_n = (n), gt_k = 0, i = gt::turn(0, gt_n);    \
       gt_k < gt_n; ++gt_k, i = gt::turn(gt_k, gt_n))
#define GT_BLOCKS(b, n) GT_EACH(b, n)
#define GT_PHASE(t)                                                          \
  for (int gt_t = 0, t = static_cast<int>(gt::turn(0, gt::kThreads));        \
       gt_t < gt::kThreads;                                                  \
       ++gt_t, t = static_cast<int>(gt::turn(gt_t, gt::kThreads)))
#define GT_BARRIER() (void)0
#define GT_SHARED
