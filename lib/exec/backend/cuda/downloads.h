// Copies small values to the host, such as the loss of each step, without
// making the GPU wait: printing them must not hold up the work that follows.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "exec/backend/cuda/event.h"
#include "exec/backend/cuda/gpu.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

// Host memory that the GPU copies to by itself, in equal slots. This object and
// the downloads it returns must be used by one thread.
class Downloads {
 public:
  static constexpr size_t kSlotBytes = 4096;
  // More than SpeculativeIssue ever has under way at once.
  static constexpr size_t kSlots = 128;

  explicit Downloads(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Downloads();
  Downloads(const Downloads&) = delete;
  Downloads& operator=(const Downloads&) = delete;

  // Begins to copy `bytes` bytes from `data`, behind the work that the stream
  // was given so far. Returns null if they do not fit in a slot, no slot is
  // free, or the GPU refuses.
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
  void* memory_ = nullptr;  // holds all slots
  std::vector<Slot> free_;
};

}  // namespace gt::exec::cuda
