// Values on their way to the GPU, such as the rows of each step, which are read
// from a file straight into memory that the GPU copies from by itself.
//
// A large one is copied while the GPU computes: on a stream of its own, which
// waits for nothing, to memory beside the value. Only the short copy from there
// takes its turn among what the GPU computes, since the value's own memory may
// be in use until then.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "exec/backend/cuda/event.h"
#include "exec/backend/cuda/gpu.h"

namespace gt::exec::cuda {

// Used by one thread.
class Uploads {
 public:
  explicit Uploads(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  // The most bytes that there is room for at once.
  static constexpr size_t kMost = size_t{16} << 20;

  // Memory of the host for so many bytes, to be written and then sent before
  // other memory is taken. Where too much is under way it waits for the oldest.
  Result<char*> take(size_t bytes);
  // Copies the first `bytes` of what take() gave last to a value, in its turn
  // on the stream. Where it fails, some of it may be under way.
  Status send(CUdeviceptr data, size_t bytes, CUstream stream);

 private:
  static constexpr size_t kMostRoom = 4 * kMost;
  static constexpr size_t kLeast = size_t{4} << 10;
  // From here on a copy takes longer than what it takes to put it beside.
  static constexpr size_t kBeside = size_t{256} << 10;

  struct Room {
    char* data = nullptr;    // on the host
    CUdeviceptr beside = 0;  // on the GPU, or 0: none yet
    size_t bytes = 0;        // of each
    std::unique_ptr<CudaEvent> come, used;
  };

  Result<std::unique_ptr<Room>> make(size_t bytes);
  void drop(Room& room);
  bool puts_beside(Room& room, size_t bytes);
  Status send_beside(const Room& room, CUdeviceptr data, size_t bytes,
                     CUstream stream);

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_ = nullptr;                 // of the copies to beside
  std::vector<std::unique_ptr<Room>> rooms_;  // that taken last at the end
  size_t bytes_ = 0;                          // of all
};

}  // namespace gt::exec::cuda
