// Recorded work as a graph of CUDA, which is launched at once.
#pragma once

#include <memory>
#include <vector>

#include "exec/backend/cuda/chains.h"
#include "exec/backend/cuda/gpu.h"
#include "exec/backend/cuda/plan.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

// Memory that recorded kernels use one after the other.
class Scratch {
 public:
  // Takes over memory that the stream may use.
  Scratch(std::shared_ptr<Gpu> gpu, CUstream stream, CUdeviceptr data,
          size_t bytes)
      : gpu_(std::move(gpu)), stream_(stream), data_(data), bytes_(bytes) {}
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  CUdeviceptr data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Gpu> gpu_;
  CUstream stream_;
  CUdeviceptr data_;
  size_t bytes_;
};

class CudaGraph final : public DeviceRecording {
 public:
  // What a graph depends on besides the addresses of values.
  struct Needs {
    std::vector<const Plan*> checks;  // see Faults
    std::shared_ptr<const Scratch> scratch;
  };

  // Takes over what a stream has captured, whose first node is a launch. If
  // `old` differs from it in addresses alone, `old` becomes it, which takes a
  // fraction of the time.
  static Result<std::unique_ptr<CudaGraph>> make(std::shared_ptr<Gpu> gpu,
                                                 CUstream stream,
                                                 CUgraph captured,
                                                 std::unique_ptr<CudaGraph> old,
                                                 Needs needs);
  ~CudaGraph() override;

  // Gives it to the stream, with this in place of its first launch.
  Status launch(const ReadyLaunch& first);
  const std::vector<const Plan*>& checks() const { return needs_.checks; }

 private:
  CudaGraph(std::shared_ptr<Gpu> gpu, CUstream stream, CUgraph graph)
      : gpu_(std::move(gpu)), stream_(stream), graph_(graph) {}
  Status start();

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_;
  CUgraph graph_;  // of which exec_ was made: it has the names of nodes
  CUgraphNode first_ = nullptr;
  CUgraphExec exec_ = nullptr;
  Needs needs_;
};

}  // namespace gt::exec::cuda
