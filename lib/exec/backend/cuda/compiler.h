// Compiles the texts of kernels with NVRTC and keeps the compiled code on disk
// (disk_cache.h).
#pragma once

#include <string>

#include "exec/backend/cuda/entry_points.h"
#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {

class Compiler {
 public:
  // Compiles for GPUs of compute capability `arch`, written as 90 for 9.0. If
  // NVRTC does not know that one, it makes PTX for the newest older one that it
  // knows, and the driver translates the PTX.
  Compiler(const EntryPoints& api, int arch);

  // Returns code for cuModuleLoadData(), from the disk cache or newly compiled.
  // Any thread may call it. Error: NVRTC's message.
  Result<std::string> compile(const Source& source);
  const std::string& target() const { return target_; }  // for example "sm_90"

 private:
  Result<std::string> compile_new(const Source& source) const;

  const EntryPoints& api_;
  std::string target_;
  std::string version_;
};

// The options that every kernel is compiled with, besides the architecture.
// They keep every rounding step and replace no function by a less accurate one.
inline constexpr const char* kCompileOptions[] = {
    "--std=c++20", "--fmad=false", "--device-as-default-execution-space"};

}  // namespace gt::exec::cuda
