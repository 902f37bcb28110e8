// Reads values on a stream of its own, so that saving a value does not delay
// the work that the GPU computes behind it.
#pragma once

#include <memory>

#include "exec/backend/cuda/gpu.h"
#include "exec/backend/cuda/staging.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

class CudaReader final : public DeviceReader {
 public:
  explicit CudaReader(std::shared_ptr<Gpu> gpu)
      : gpu_(std::move(gpu)), staging_(gpu_) {}
  ~CudaReader() override;
  Status read(const void* data, size_t bytes, const DeviceEvent* behind,
              const TensorBytes::Take& take) override;

 private:
  Status begin(const DeviceEvent* behind);

  std::shared_ptr<Gpu> gpu_;
  // Made by the first read.
  CUstream stream_ = nullptr;
  Staging staging_;
};

}  // namespace gt::exec::cuda
