// Values on their way from the GPU to memory of the host that it cannot reach
// by itself.
#pragma once

#include <array>
#include <memory>

#include "exec/backend/cuda/event.h"
#include "exec/backend/cuda/gpu.h"
#include "file/tensor_bytes.h"

namespace gt::exec::cuda {

// Memory of the host that the GPU copies to by itself, in two halves: one is
// emptied while the other is on its way.
class Staging {
 public:
  static constexpr size_t kBytes = size_t{1} << 20;  // of a half

  explicit Staging(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Gives the bytes to `take` in their order, in pieces of kBytes at most.
  // Where it fails, some of the work may be under way.
  Status download(CUdeviceptr data, size_t bytes, CUstream stream,
                  const TensorBytes::Take& take);

 private:
  struct Half {
    char* data = nullptr;
    std::unique_ptr<CudaEvent> used;  // the copy that uses it is done
  };
  // The half whose turn it is, once nothing uses it any more.
  Result<Half*> next();

  std::shared_ptr<Gpu> gpu_;
  std::array<Half, 2> halves_;
  size_t turn_ = 0;
};

}  // namespace gt::exec::cuda
