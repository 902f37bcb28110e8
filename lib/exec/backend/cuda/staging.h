// Copies values of any size from the GPU to host memory that the GPU cannot
// reach by itself.
#pragma once

#include <array>
#include <memory>

#include "exec/backend/cuda/event.h"
#include "exec/backend/cuda/gpu.h"
#include "file/tensor_bytes.h"

namespace gt::exec::cuda {

// Host memory that the GPU copies to by itself, in two halves: one is emptied
// while the other is being filled.
class Staging {
 public:
  static constexpr size_t kBytes = size_t{1} << 20;  // size of a half

  explicit Staging(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Copies `bytes` bytes from `data` on `stream` and passes them to `take` in
  // order, in pieces of at most kBytes. After an error, some of the copies may
  // still be under way.
  Status download(CUdeviceptr data, size_t bytes, CUstream stream,
                  const TensorBytes::Take& take);

 private:
  struct Half {
    char* data = nullptr;
    // Reached once the copy that uses this half is done.
    std::unique_ptr<CudaEvent> used;
  };
  // Returns the half whose turn it is, after waiting until nothing uses it.
  Result<Half*> next();

  std::shared_ptr<Gpu> gpu_;
  std::array<Half, 2> halves_;
  size_t turn_ = 0;
};

}  // namespace gt::exec::cuda
