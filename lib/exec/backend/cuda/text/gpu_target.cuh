// What a kernel's text stands on, when NVRTC compiles it for a GPU; it includes
// this as "target.cuh". Tests compile the same text for the host, where a file
// of that name plays blocks and threads as loops (tests/cuda/twin/target.cuh).
//
//   GT_KERNEL(name) { ... }   a kernel; its Args are `a` (common.cuh)
//   GT_ITEMS_KERNEL(name)     a kernel that has Items, `items`, too
//   GT_EACH(i, n) { ... }     for every i in [0, n), in any order, all at once
//   GT_BLOCKS(b, n) { ... }   for every b in [0, n), a block of threads each
//   GT_PHASE(t) { ... }       within that, for each of the block's kThreads
//                             threads; what they wrote is seen behind it
//   GT_ALONE(t) { ... }       a phase whose threads write nothing of the block's
//                             memory, so that none waits for the others
//   GT_SHARED T x[n];         within a kernel, memory of the block
//   Own<T> x;                 within GT_BLOCKS, a T for each thread that outlives
//                             a phase: x.of(t) is thread t's
//   GT_BARRIER();             where memory of the block was read outside of a
//                             phase, before a phase may write it again
//
// A variable declared outside of a phase is one for the block, and no phase
// changes it. A phase stands where all threads of the block come.
//
// warp_join<F>() gives each of 32 threads that follow each other what F joins
// of them all, in an order that depends on nothing else. load_last() reads what
// nothing will read again, and store_rest() writes what nothing will read soon.
// float_of_half(), half_of_float() and brain_of_float() convert the bits of f16
// and bf16; what they make of a nan is some nan. mma_16_8_16() multiplies and
// adds 16-bit floats by tensor cores.
#pragma once

#define GT_KERNEL(name) extern "C" __global__ void name(const gt::Args a)
#define GT_ITEMS_KERNEL(name)          \
  extern "C" __global__ void name(     \
      const gt::Args a, const __grid_constant__ gt::Items items)
#define GT_EACH(i, n)                                                       \
  for (gt::int64_t i = blockIdx.x * gt::int64_t{blockDim.x} + threadIdx.x;  \
       i < (n); i += gt::int64_t{gridDim.x} * blockDim.x)
#define GT_BLOCKS(b, n) \
  for (gt::int64_t b = blockIdx.x; b < (n); b += gridDim.x)
#define GT_PHASE(t)                                                 \
  for (int t = threadIdx.x, gt_once = 1; gt_once != 0; gt_once = 0, \
           __syncthreads())
#define GT_ALONE(t) \
  for (int t = threadIdx.x, gt_once = 1; gt_once != 0; gt_once = 0)
#define GT_BARRIER() __syncthreads()
#define GT_SHARED __shared__

namespace gt {

using ::int64_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;

inline void keep_least(uint64_t* word, uint64_t value) {
  atomicMin(reinterpret_cast<unsigned long long*>(word), value);
}
// What the thread wrote before, the host sees before what it writes then.
inline void seen_by_host() { __threadfence_system(); }

inline float float_of_half(uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
inline uint16_t half_of_float(float x) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
inline uint16_t brain_of_float(float x) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

template <typename T>
struct Own {
  T& of(int /*t*/) { return value; }
  T value;
};

template <typename F, typename A>
inline void warp_join(Own<A>& x) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    x.value = F::join(x.value, __shfl_xor_sync(~0u, x.value, half));
  }
}

template <typename T>
inline T load_last(const void* x) {
  static_assert(sizeof(T) == 16);
  return __builtin_bit_cast(T, __ldcs(static_cast<const uint4*>(x)));
}
// 16 bytes at once, which a compiler does not take apart again.
template <typename T>
inline void store_16(void* x, const T& value) {
  static_assert(sizeof(T) == 16);
  __stwb(static_cast<uint4*>(x), __builtin_bit_cast(uint4, value));
}
template <typename T>
inline void store_rest(void* x, const T& value) {
  static_assert(sizeof(T) == 16);
  __stcs(static_cast<uint4*>(x), __builtin_bit_cast(uint4, value));
}

// c += a b of 16 by 16 elements of a and 16 by 8 of b, as PTX's mma.m16n8k16
// lays them out over a warp.
struct f16;
struct bf16;
#define GT_MMA(type)                                                        \
  inline void mma(const type* /*of*/, float* c, const uint32_t* a,          \
                  const uint32_t* b) {                                      \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." #type "." #type ".f32 "    \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                    \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
  }
GT_MMA(f16)
GT_MMA(bf16)
#undef GT_MMA

// c += a b^T of 16 rows of a and 8 kCount rows of b, and 16 columns of both,
// in memory of the block; a stride is even. Of 8 columns of the result each,
// lane l has in c[j] those of row l / 4 and, behind them, of the row 8 below, at
// columns l % 4 * 2 and the next. All lanes of a warp call it at once.
template <int kCount, typename T>
inline void mma_16_8_16(int lane, float (*c)[4], const T* a, int a_stride,
                        const T* b, int b_stride) {
  const auto pair = [](const T* at) {
    return *reinterpret_cast<const uint32_t*>(at);
  };
  const T* from = a + lane / 4 * a_stride + lane % 4 * 2;
  const uint32_t left[4] = {pair(from), pair(from + 8 * a_stride),
                            pair(from + 8), pair(from + 8 * a_stride + 8)};
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    const T* at = b + (8 * j + lane / 4) * b_stride + lane % 4 * 2;
    const uint32_t right[2] = {pair(at), pair(at + 8)};
    mma(b, c[j], left, right);
  }
}

}  // namespace gt
