// Attention by cuDNN, where it is.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "exec/backend/cuda/device.h"
#include "exec/backend/cuda/plan.h"

struct cudnnContext;

namespace gt::exec::cuda {

// One attention, or its gradient, whose way of computing is chosen. Products
// are added in f32, in an order that does not depend on the clock.
class LibraryAttention {
 public:
  LibraryAttention() = default;
  LibraryAttention(const LibraryAttention&) = delete;
  LibraryAttention& operator=(const LibraryAttention&) = delete;
  virtual ~LibraryAttention() = default;

  // The bytes of scratch memory that a run takes.
  virtual size_t workspace() const = 0;

  using Addresses = std::array<CUdeviceptr, AttentionTask::kRoles>;
  virtual Status run(const Addresses& at, CUdeviceptr workspace) = 0;
};

// The library on one device.
class Attentions {
 public:
  explicit Attentions(CudaDevice& device) : device_(device) {}
  ~Attentions();
  Attentions(const Attentions&) = delete;
  Attentions& operator=(const Attentions&) = delete;

  // Null where gt was built without cuDNN's headers, where cuDNN is not on this
  // host or too old, and where it has no way for this task on this GPU.
  std::unique_ptr<LibraryAttention> make(const AttentionTask& task);

 private:
  // Null: there is none.
  cudnnContext* handle();

  CudaDevice& device_;
  // Of the handle, which is for one thread at a time.
  std::mutex mutex_;
  bool is_looked_up_ = false;
  cudnnContext* handle_ = nullptr;
};

}  // namespace gt::exec::cuda
