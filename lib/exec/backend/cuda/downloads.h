// Small values on their way to the host, such as the loss of each step, whose
// print is no reason to keep the GPU waiting for what comes next.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "exec/backend/cuda/event.h"
#include "exec/backend/cuda/gpu.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

// Memory of the host that the GPU copies to by itself, in equal slots. Used by
// one thread, as what it gives is.
class Downloads {
 public:
  static constexpr size_t kSlotBytes = 4096;
  // More than RunsAhead has under way at once.
  static constexpr size_t kSlots = 128;

  explicit Downloads(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Downloads();
  Downloads(const Downloads&) = delete;
  Downloads& operator=(const Downloads&) = delete;

  // Behind what the stream was given so far. Null if they do not fit in a slot,
  // none is free, or the GPU refuses.
  std::shared_ptr<DeviceDownload> begin(CUdeviceptr data, size_t bytes,
                                        CUstream stream);

 private:
  class Download;
  struct Slot {
    char* data = nullptr;
    std::unique_ptr<CudaEvent> copied;
  };
  bool allocate();

  std::shared_ptr<Gpu> gpu_;
  void* memory_ = nullptr;  // of all slots
  std::vector<Slot> free_;
};

}  // namespace gt::exec::cuda
