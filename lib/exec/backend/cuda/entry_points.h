// The functions of NVIDIA's driver, of NVRTC, of cuBLASLt and of NCCL that the
// backend calls. They are looked up when it is made, so that nothing of CUDA is
// linked, and a machine without it runs all else of gt.
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>
#ifdef GT_CUDA_NCCL
#include <nccl.h>
#endif

// Headers of CUDA 13 give this name to a second version of the function, which
// has the same form. Drivers of CUDA 12 may have the first alone, newer ones
// both, so the first is looked up.
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
extern "C" CUresult CUDAAPI cuEventElapsedTime(float* milliseconds,
                                               CUevent begin, CUevent end);
#endif

#include <string>

#include "base/result.h"

namespace gt::exec::cuda {

// Functions have their libraries' names; where cuda.h has a newer version of a
// function by a macro, the macro is followed.
struct Driver {
#define GT_CUDA_DRIVER(name) decltype(&::name) name = nullptr;
#include "exec/backend/cuda/entry_points.def"
};
struct Nvrtc {
#define GT_CUDA_NVRTC(name) decltype(&::name) name = nullptr;
#include "exec/backend/cuda/entry_points.def"
};
struct Lt {
#define GT_CUDA_LT(name) decltype(&::name) name = nullptr;
#include "exec/backend/cuda/entry_points.def"
};

#ifdef GT_CUDA_NCCL
struct Nccl {
#define GT_CUDA_NCCL_ENTRY(name) decltype(&::name) name = nullptr;
#include "exec/backend/cuda/entry_points.def"
};
#endif

struct EntryPoints {
  Driver driver;
  Nvrtc nvrtc;
  Lt lt;
};

// All of them, looked up once in a process: below $GT_CUDA_PATH (folders, with
// colons between them) if that is set, else where the system looks, else in the
// toolkit's folder. Errors say in a sentence what is missing and what to do.
Result<const EntryPoints*> entry_points();
// NVRTC's alone, which needs neither a driver nor a GPU.
Result<Nvrtc> nvrtc_entry_points();
#ifdef GT_CUDA_NCCL
// NCCL's, which not every worker needs; looked up once in a process.
Result<const Nccl*> nccl_entry_points();
#endif
#ifdef GT_CUDA_CUDNN
// cuDNN as a whole, whose functions its headers look up; looked up once in a
// process.
Result<void*> cudnn_library();
#endif

// The first result of a call that meant that this process can use its GPU no
// more, such as a kernel's illegal address; CUDA_SUCCESS if there was none.
CUresult lost_context();

// A call's result as a status: "cuMemAllocAsync: out of memory".
Status check(const EntryPoints& api, CUresult result, const char* call);
Status check(const EntryPoints& api, nvrtcResult result, const char* call);
Status check(cublasStatus_t result, const char* call);

}  // namespace gt::exec::cuda
