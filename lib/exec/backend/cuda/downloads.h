// Small values on their way to the host, such as the loss of each step, whose
// print is no reason to keep the GPU waiting for what comes next.
#pragma once

#include <cstddef>
#include <memory>

#include "exec/backend/cuda/gpu.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

// Memory of the host that the GPU copies to by itself, in equal slots. Used by
// one thread, as what it gives is.
class Downloads {
 public:
  static constexpr size_t kSlotBytes = 4096;
  static constexpr size_t kSlots = 128;

  explicit Downloads(std::shared_ptr<Gpu> gpu);

  // Behind what the stream was given so far. Null if they do not fit in a slot,
  // none is free, or the GPU refuses.
  std::shared_ptr<DeviceDownload> begin(CUdeviceptr data, size_t bytes,
                                        CUstream stream);

 private:
  class Room;
  class Download;
  std::shared_ptr<Room> room_;  // downloads may outlive this
};

}  // namespace gt::exec::cuda
