// Recorded work as a CUDA graph, which is launched as one piece.
#pragma once

#include <memory>
#include <vector>

#include "exec/backend/cuda/chains.h"
#include "exec/backend/cuda/gpu.h"
#include "exec/backend/cuda/plan.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

// Scratch memory that recorded kernels use one after the other.
class Scratch {
 public:
  // Takes ownership of memory that may be used on the stream.
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
  // What a graph needs besides the addresses of values.
  struct Needs {
    std::vector<const Plan*> checks;  // one for each check, in order (faults.h)
    std::shared_ptr<const Scratch> scratch;
  };

  // Makes a graph of what a stream has captured, and takes ownership of it. Its
  // first node must be a kernel launch. If `old` differs from it in addresses
  // alone, `old` is updated and returned, which takes a fraction of the time.
  static Result<std::unique_ptr<CudaGraph>> make(std::shared_ptr<Gpu> gpu,
                                                 CUstream stream,
                                                 CUgraph captured,
                                                 std::unique_ptr<CudaGraph> old,
                                                 Needs needs);
  ~CudaGraph() override;

  // Launches the graph on its stream, with `first` in place of its first
  // launch.
  Status launch(const ReadyLaunch& first);
  const std::vector<const Plan*>& checks() const { return needs_.checks; }

 private:
  CudaGraph(std::shared_ptr<Gpu> gpu, CUstream stream, CUgraph graph)
      : gpu_(std::move(gpu)), stream_(stream), graph_(graph) {}
  Status start();

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_;
  // The graph that exec_ was made of; kept because its nodes name those of
  // exec_.
  CUgraph graph_;
  CUgraphNode first_ = nullptr;
  CUgraphExec exec_ = nullptr;
  Needs needs_;
};

}  // namespace gt::exec::cuda
