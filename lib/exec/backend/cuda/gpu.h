// One GPU of this process: its context, its memory, and the kernels loaded on
// it. The backend that computes and the one that exchanges share it.
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
  // The GPU of that number; without one that which LOCAL_RANK says, modulo how
  // many there are, or the first. Errors: no driver, no GPU, none of that
  // number, what the driver says.
  static Result<std::shared_ptr<Gpu>> open(std::optional<unsigned> number);
  // The names of this host's GPUs, by number. Errors: no driver, no GPU.
  static Result<std::vector<std::string>> list();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const EntryPoints& api() const { return api_; }
  const Driver& driver() const { return api_.driver; }

  // The compute capability, as 90 for 9.0.
  int arch() const { return arch_; }

  // As "NVIDIA H100 80GB HBM3".
  Result<std::string> name() const;
  // 16 bytes that no other GPU, nor part of one, has.
  Result<std::string> uuid() const;

  // Makes it the GPU of the calling thread's calls. Each thread, before its
  // first call of the driver.
  Status enter();

  // Memory that every stream may use at once; null when there is none. Any
  // thread.
  void* allocate(size_t bytes);
  // Frees it behind what the stream was given.
  Status release(void* data, CUstream stream);

  // A kernel. If it is new, it is compiled and loaded in the background, and
  // whoever asks for its value waits for that. Any thread. It stays.
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
