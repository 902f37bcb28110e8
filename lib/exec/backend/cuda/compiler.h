// Compiles kernels' texts by NVRTC, and keeps what it made on the disk.
#pragma once

#include <string>

#include "exec/backend/cuda/entry_points.h"
#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {

class Compiler {
 public:
  // For GPUs of compute capability `arch`, as 90 for 9.0. Where NVRTC does not
  // know it, the code is for the newest that it knows before, and the driver
  // translates it.
  Compiler(const EntryPoints& api, int arch);

  // What cuModuleLoadData() takes. Any thread. Error: NVRTC's words.
  Result<std::string> compile(const Source& source);
  const std::string& target() const { return target_; }  // "sm_90"

 private:
  Result<std::string> compile_new(const Source& source) const;

  const EntryPoints& api_;
  std::string target_;
  std::string version_;
};

// The options for every kernel, beside the architecture's: no rounding is left
// out and no function is replaced by a coarser one.
inline constexpr const char* kCompileOptions[] = {
    "--std=c++20", "--fmad=false", "--device-as-default-execution-space"};

}  // namespace gt::exec::cuda
