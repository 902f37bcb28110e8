// The functions of NVIDIA's driver, of NVRTC and of cuBLASLt that the backend
// calls. They are looked up when it is made, so that nothing of CUDA is linked,
// and a machine without it runs all else of gt.
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>

#include <string>

#include "base/result.h"

namespace gt::exec::cuda {

// Names are those of the libraries; where cuda.h has a newer version of a
// function by a macro, the macro is followed.
#define GT_CUDA_DRIVER(X)                                                  \
  X(cuInit) X(cuGetErrorName) X(cuGetErrorString) X(cuDriverGetVersion)    \
  X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName)                    \
  X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain)                      \
  X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent)                          \
  X(cuDeviceGetDefaultMemPool) X(cuMemPoolSetAttribute)                    \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize)              \
  X(cuStreamWaitEvent) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) \
  X(cuEventSynchronize) X(cuMemAllocAsync) X(cuMemFreeAsync)               \
  X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemcpyHtoDAsync)                  \
  X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemsetD8Async)             \
  X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction)             \
  X(cuLaunchKernel)
#define GT_CUDA_NVRTC(X)                                              \
  X(nvrtcGetErrorString) X(nvrtcVersion) X(nvrtcGetNumSupportedArchs) \
  X(nvrtcGetSupportedArchs) X(nvrtcCreateProgram)                     \
  X(nvrtcDestroyProgram) X(nvrtcCompileProgram)                       \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog)                     \
  X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)
#define GT_CUDA_LT(X)                                                    \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetVersion)             \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy)               \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate)        \
  X(cublasLtMatrixLayoutDestroy) X(cublasLtMatrixLayoutSetAttribute)     \
  X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)   \
  X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulAlgoGetHeuristic) \
  X(cublasLtMatmul)

#define GT_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
struct Driver {
  GT_CUDA_DRIVER(GT_CUDA_MEMBER)
};
struct Nvrtc {
  GT_CUDA_NVRTC(GT_CUDA_MEMBER)
};
struct Lt {
  GT_CUDA_LT(GT_CUDA_MEMBER)
};
#undef GT_CUDA_MEMBER

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

// A call's result as a status: "cuMemAllocAsync: out of memory".
Status check(const EntryPoints& api, CUresult result, const char* call);
Status check(const EntryPoints& api, nvrtcResult result, const char* call);
Status check(cublasStatus_t result, const char* call);

}  // namespace gt::exec::cuda
