// A CUDA event: a point in the work of a stream.
#pragma once

#include <memory>

#include "exec/backend/cuda/gpu.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

class CudaEvent final : public DeviceEvent {
 public:
  explicit CudaEvent(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~CudaEvent() override;
  // Marks the point behind all work that the stream was given so far.
  Status record(CUstream stream);
  // Sleeps until the stream has reached the point.
  Status wait() const;
  // True if the stream has reached the point. Error: the GPU has failed.
  Result<bool> is_reached() const;
  CUevent get() const { return event_; }

 private:
  std::shared_ptr<Gpu> gpu_;
  CUevent event_ = nullptr;
};

}  // namespace gt::exec::cuda
