// The functions of NVIDIA's driver, NVRTC, cuBLASLt and NCCL that the backend
// calls. They are looked up when the backend is made, so that gt links nothing
// of CUDA and all other parts of gt run on a machine without it.
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>
#ifdef GT_CUDA_NCCL
#include <nccl.h>
#endif

// The headers of CUDA 13 redirect this name to a second version of the
// function, which has the same signature. Drivers of CUDA 12 may have only the
// first version and newer drivers have both, so the first is looked up.
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
extern "C" CUresult CUDAAPI cuEventElapsedTime(float* milliseconds,
                                               CUevent begin, CUevent end);
#endif

#include <string>

#include "base/result.h"

namespace gt::exec::cuda {

// Tables of functions, each under the name that its library gives it. Where
// cuda.h redirects a name to a newer version by a macro, the newer version is
// looked up.
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

// Returns the tables, which are looked up once in a process: in the folders of
// $GT_CUDA_PATH, separated by colons, if that is set; else where the system
// looks; else in the toolkit's folder. Errors say in a sentence what is missing
// and what to do.
Result<const EntryPoints*> entry_points();
// Returns the table of NVRTC alone, which needs neither a driver nor a GPU.
Result<Nvrtc> nvrtc_entry_points();
#ifdef GT_CUDA_NCCL
// Returns the table of NCCL, which not every worker needs; looked up once in a
// process.
Result<const Nccl*> nccl_entry_points();
#endif
#ifdef GT_CUDA_CUDNN
// Returns cuDNN's library handle, in which cuDNN's headers look up their
// functions; loaded once in a process.
Result<void*> cudnn_library();
#endif

// Returns the first result after which this process cannot use its GPU any
// more, such as that of a kernel's illegal address; CUDA_SUCCESS if there was
// none.
CUresult lost_context();

// These turn the result of `call` into a status: "cuMemAllocAsync: out of
// memory".
Status check(const EntryPoints& api, CUresult result, const char* call);
Status check(const EntryPoints& api, nvrtcResult result, const char* call);
Status check(cublasStatus_t result, const char* call);

}  // namespace gt::exec::cuda
