// The macros and functions that all kernel texts use, for NVRTC and a GPU;
// kernel texts include them as "target.cuh". Tests compile the same texts for
// the host, where a file of that name runs blocks and threads as loops
// (tests/cuda/twin/target.cuh).
//
//   GT_KERNEL(name) { ... }   a kernel; its Args are `a` (common.cuh)
//   GT_ITEMS_KERNEL(name)     a kernel that also has Items, called `items`
//   GT_EACH(i, n) { ... }     for every i in [0, n), in any order, in parallel
//   GT_BLOCKS(b, n) { ... }   for every b in [0, n), by one block of threads
//   GT_PHASE(t) { ... }       within GT_BLOCKS, for each of a block's kThreads
//                             threads; what they write is visible after it
//   GT_ALONE(t) { ... }       a phase whose threads write no GT_SHARED memory,
//                             so that none waits for the others
//   GT_SHARED T x[n];         within a kernel, memory of the block
//   Own<T> x;                 within GT_BLOCKS, a T for each thread that lives
//                             longer than a phase: x.of(t) is thread t's
//   GT_BARRIER();             separates reads of GT_SHARED memory outside of a
//                             phase from a later phase that writes it
//
// A variable that is declared outside of a phase belongs to the block, and no
// phase may change it. All threads of the block must reach a phase.
//
// warp_join<F>() gives each thread of a warp what F joins of the values of all
// 32, in a fixed order. load_last() reads memory that nothing will read again,
// and store_rest() writes memory that nothing will read soon. float_of_half(),
// half_of_float() and brain_of_float() convert the bits of f16 and bf16; they
// turn a nan into some nan. mma_16_8_16() multiplies and adds 16-bit floats
// with tensor cores.
#pragma once

#define GT_KERNEL(name) extern "C" __global__ void name(const gt::Args a)
#define GT_ITEMS_KERNEL(name)                       \
  extern "C" __global__ void name(const gt::Args a, \
                                  const __grid_constant__ gt::Items items)
#define GT_EACH(i, n)                                                      \
  for (gt::int64_t i = blockIdx.x * gt::int64_t{blockDim.x} + threadIdx.x; \
       i < (n); i += gt::int64_t{gridDim.x} * blockDim.x)
#define GT_BLOCKS(b, n) \
  for (gt::int64_t b = blockIdx.x; b < (n); b += gridDim.x)
#define GT_PHASE(t)                                    \
  for (int t = threadIdx.x, gt_once = 1; gt_once != 0; \
       gt_once = 0, __syncthreads())
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
// Makes the host see what the thread wrote before the call before what it
// writes after it.
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
// Writes 16 bytes with one instruction, which the compiler does not split
// again.
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

// Computes c += a b for 16 by 16 elements of a and 16 by 8 of b, laid out over
// a warp as PTX's mma.m16n8k16 has them.
struct f16;
struct bf16;
#define GT_MMA(type)                                                         \
  inline void mma(const type* /*of*/, float* c, const uint32_t* a,           \
                  const uint32_t* b) {                                       \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." #type "." #type             \
        ".f32 "                                                              \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"    \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                     \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
  }
GT_MMA(f16)
GT_MMA(bf16)
#undef GT_MMA

// Computes c += a b^T for 16 rows of a and 8 kCount rows of b, and 16 columns
// of both, in memory of the block; the strides must be even. For columns 8 j to
// 8 j + 7 of the result, lane l holds in c[j] two elements of row l / 4 and,
// behind them, two of the row 8 below, at columns l % 4 * 2 and the next. All
// lanes of a warp must call it together.
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
