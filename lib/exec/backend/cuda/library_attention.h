// Attention computed by cuDNN, where cuDNN is installed.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "exec/backend/cuda/device.h"
#include "exec/backend/cuda/plan.h"

struct cudnnContext;

namespace gt::exec::cuda {

// One attention, or its gradient, for which cuDNN has chosen a way to compute
// it. Products are summed in f32, in an order that does not depend on timing.
class LibraryAttention {
 public:
  LibraryAttention() = default;
  LibraryAttention(const LibraryAttention&) = delete;
  LibraryAttention& operator=(const LibraryAttention&) = delete;
  virtual ~LibraryAttention() = default;

  // The scratch memory that a run needs, in bytes.
  virtual size_t workspace() const = 0;

  using Addresses = std::array<CUdeviceptr, AttentionTask::kRoles>;
  virtual Status run(const Addresses& at, CUdeviceptr workspace) = 0;
};

// The library on one device. Makes LibraryAttention objects, which must not
// outlive it.
class Attentions {
 public:
  explicit Attentions(CudaDevice& device) : device_(device) {}
  ~Attentions();
  Attentions(const Attentions&) = delete;
  Attentions& operator=(const Attentions&) = delete;

  // Returns null if gt was built without cuDNN's headers, if cuDNN is not on
  // this host or too old, or if it cannot do this task on this GPU.
  std::unique_ptr<LibraryAttention> make(const AttentionTask& task);

 private:
  // Returns cuDNN's handle, or null if there is no cuDNN.
  cudnnContext* handle();

  CudaDevice& device_;
  // Guards the handle, which one thread may use at a time.
  std::mutex mutex_;
  bool is_looked_up_ = false;
  cudnnContext* handle_ = nullptr;
};

}  // namespace gt::exec::cuda
