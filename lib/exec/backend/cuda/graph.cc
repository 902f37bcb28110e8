#include "exec/backend/cuda/graph.h"

#include <utility>

namespace gt::exec::cuda {

Scratch::~Scratch() {
  if (gpu_->enter().ok()) {
    (void)gpu_->release(reinterpret_cast<void*>(data_), stream_);
  }
}

Result<std::unique_ptr<CudaGraph>> CudaGraph::make(
    std::shared_ptr<Gpu> gpu, CUstream stream, CUgraph captured,
    std::unique_ptr<CudaGraph> old, Needs needs) {
  const Driver& driver = gpu->driver();
  std::unique_ptr<CudaGraph> made;
  CUgraphExecUpdateResultInfo result{};
  if (old != nullptr &&
      driver.cuGraphExecUpdate(old->exec_, captured, &result) == CUDA_SUCCESS) {
    (void)driver.cuGraphDestroy(captured);
    made = std::move(old);
  } else {
    made.reset(new CudaGraph(std::move(gpu), stream, captured));
    if (Status s = made->start(); !s.ok()) return s.error();
  }
  made->needs_ = std::move(needs);
  return made;
}

Status CudaGraph::start() {
  const Driver& driver = gpu_->driver();
  size_t count = 1;
  Status s =
      check(gpu_->api(), driver.cuGraphGetRootNodes(graph_, &first_, &count),
            "cuGraphGetRootNodes");
  if (!s.ok()) return s;
  if (count != 1) return Error{"the graph does not begin with one launch"};
  return check(gpu_->api(),
               driver.cuGraphInstantiateWithFlags(&exec_, graph_, 0),
               "cuGraphInstantiateWithFlags");
}

CudaGraph::~CudaGraph() {
  if (!gpu_->enter().ok()) return;
  const Driver& driver = gpu_->driver();
  if (exec_ != nullptr) {
    (void)driver.cuStreamSynchronize(stream_);
    (void)driver.cuGraphExecDestroy(exec_);
  }
  (void)driver.cuGraphDestroy(graph_);
}

Status CudaGraph::launch(const ReadyLaunch& first) {
  const void* parameters[] = {&first.args};
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = first.function;
  node.gridDimX = node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = kThreads;
  node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = const_cast<void**>(parameters);
  const Status s =
      check(gpu_->api(),
            gpu_->driver().cuGraphExecKernelNodeSetParams(exec_, first_, &node),
            "cuGraphExecKernelNodeSetParams");
  if (!s.ok()) return s;
  return check(gpu_->api(), gpu_->driver().cuGraphLaunch(exec_, stream_),
               "cuGraphLaunch");
}

}  // namespace gt::exec::cuda
