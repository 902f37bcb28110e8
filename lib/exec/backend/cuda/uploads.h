// Copies values to the GPU, such as the rows of each step, which are read from
// a file straight into host memory that the GPU copies from by itself.
//
// A large value is copied while the GPU computes: on a stream of its own, which
// waits for nothing, to GPU memory beside the value. Only the short copy from
// there takes its turn among the GPU's work, since the value's own memory may
// be in use until then.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "exec/backend/cuda/event.h"
#include "exec/backend/cuda/gpu.h"

namespace gt::exec::cuda {

// Must be used by one thread.
class Uploads {
 public:
  explicit Uploads(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  // The most bytes that take() can give at once.
  static constexpr size_t kMost = size_t{16} << 20;

  // Returns host memory for `bytes` bytes, to be filled and passed to send()
  // before take() is called again. If too much is under way, it waits for the
  // oldest copies.
  Result<char*> take(size_t bytes);
  // Copies the first `bytes` bytes of the memory that take() returned last to
  // `data`, in their turn on the stream. After an error, some of the copy may
  // still be under way.
  Status send(CUdeviceptr data, size_t bytes, CUstream stream);

 private:
  static constexpr size_t kMostRoom = 4 * kMost;
  static constexpr size_t kLeast = size_t{4} << 10;
  // From this size on, the copy from the host takes longer than the extra copy
  // on the GPU, so the value is first copied beside.
  static constexpr size_t kBeside = size_t{256} << 10;

  // A buffer on the host, and one beside the values on the GPU.
  struct Room {
    char* data = nullptr;    // on the host
    CUdeviceptr beside = 0;  // on the GPU; 0 until it is needed
    size_t bytes = 0;        // size of each buffer
    std::unique_ptr<CudaEvent> come, used;
  };

  Result<std::unique_ptr<Room>> make(size_t bytes);
  void drop(Room& room);
  bool puts_beside(Room& room, size_t bytes);
  Status send_beside(const Room& room, CUdeviceptr data, size_t bytes,
                     CUstream stream);

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_ = nullptr;  // the stream that copies to `beside`
  // The room that was taken last is at the end.
  std::vector<std::unique_ptr<Room>> rooms_;
  size_t bytes_ = 0;  // total size of the host buffers
};

}  // namespace gt::exec::cuda
