// One GPU of this process: its context, its memory, and the kernels loaded on
// it. The backend that computes and the backend that communicates share it.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/backend/cuda/background.h"
#include "exec/backend/cuda/compiler.h"
#include "exec/backend/cuda/entry_points.h"

namespace gt::exec::cuda {

class Gpu {
 public:
  // Opens the GPU with this number; without a number, the one whose number is
  // the launcher's local rank (base/launched.h) modulo the number of GPUs, or
  // the first if there was no launcher. A GPU that this process has open
  // already is returned whatever the number. Errors: there is no driver, no
  // GPU, or none of that number; the local rank is no number; or the driver's
  // message.
  static Result<std::shared_ptr<Gpu>> open(std::optional<unsigned> number);
  // Returns the names of this host's GPUs, by number. Errors: there is no
  // driver or no GPU.
  static Result<std::vector<std::string>> list();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const EntryPoints& api() const { return api_; }
  const Driver& driver() const { return api_.driver; }

  // The compute capability, written as 90 for 9.0.
  int arch() const { return arch_; }

  // The name of the model, such as "NVIDIA H100 80GB HBM3".
  Result<std::string> name() const;
  // 16 bytes that identify this GPU, or this part of a GPU.
  Result<std::string> uuid() const;

  // Makes this the current GPU of the calling thread. Each thread must call it
  // before it calls the driver.
  Status enter();

  // Returns memory that every stream may use at once; null if there is none
  // left. Any thread may call it.
  void* allocate(size_t bytes);
  // Frees the memory behind the work that the stream was given so far.
  Status release(void* data, CUstream stream);

  // Returns a kernel, which stays loaded. A new one is compiled and loaded in
  // the background; get() of the returned future waits for that. Any thread may
  // call it.
  using Function = std::shared_future<Result<CUfunction>>;
  Function function(const Source& source);

 private:
  Gpu(const EntryPoints& api, CUdevice device, int arch)
      : api_(api), device_(device), arch_(arch), compiler_(api, arch) {}
  Status start();
  Result<CUfunction> load(const Source& source);

  const EntryPoints& api_;
  CUdevice device_;
  int arch_;
  Compiler compiler_;
  CUcontext context_ = nullptr;
  CUstream memory_stream_ = nullptr;
  std::mutex memory_mutex_;
  std::mutex kernels_mutex_;
  std::map<std::string, Function> functions_;
  std::vector<CUmodule> modules_;
  Background background_;
};

}  // namespace gt::exec::cuda
