// What a kernel's text stands on, when NVRTC compiles it for a GPU; it includes
// this as "target.cuh". Tests compile the same text for the host, where a file
// of that name plays blocks and threads as loops (tests/cuda/twin/target.cuh).
//
//   GT_KERNEL(name) { ... }   a kernel; its Args are `a` (common.cuh)
//   GT_EACH(i, n) { ... }     for every i in [0, n), in any order, all at once
//   GT_BLOCKS(b, n) { ... }   for every b in [0, n), a block of threads each
//   GT_PHASE(t) { ... }       within that, for each of the block's kThreads
//                             threads; what they wrote is seen behind it
//   GT_SHARED T x[n];         within a kernel, memory of the block
//   GT_BARRIER();             where memory of the block was read outside of a
//                             phase, before a phase may write it again
//
// A variable declared outside of a phase is one for the block, and no phase
// changes it. A phase stands where all threads of the block come.
#pragma once

#define GT_KERNEL(name) extern "C" __global__ void name(const gt::Args a)
#define GT_EACH(i, n)                                                       \
  for (gt::int64_t i = blockIdx.x * gt::int64_t{blockDim.x} + threadIdx.x;  \
       i < (n); i += gt::int64_t{gridDim.x} * blockDim.x)
#define GT_BLOCKS(b, n) \
  for (gt::int64_t b = blockIdx.x; b < (n); b += gridDim.x)
#define GT_PHASE(t)                                                 \
  for (int t = threadIdx.x, gt_once = 1; gt_once != 0; gt_once = 0, \
           __syncthreads())
#define GT_BARRIER() __syncthreads()
#define GT_SHARED __shared__

namespace gt {

using ::int64_t;
using ::uint64_t;

inline void keep_least(uint64_t* word, uint64_t value) {
  atomicMin(reinterpret_cast<unsigned long long*>(word), value);
}

}  // namespace gt
