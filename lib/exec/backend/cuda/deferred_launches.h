// The interface of objects that defer the launches of runs, so that the GPU
// gets them together with the runs that follow. Anything else that the device
// is told to do first launches what was put off, so the delay has no visible
// effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "exec/backend/cuda/gpu.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

// A range of device memory that a run reads or writes.
struct Extent {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  bool overlaps(const Extent& other) const {
    return begin < other.begin + other.bytes && other.begin < begin + bytes;
  }
};

// A launch that is ready: a function and its arguments.
struct ReadyLaunch {
  CUfunction function = nullptr;
  int64_t blocks = 1;
  Args args;
  // Set only for a kernel that takes items.
  const Items* items = nullptr;
};

// Runs whose launches are put off. Batch and Chains implement it; CudaDevice
// uses it.
class DeferredLaunches {
 public:
  DeferredLaunches() = default;
  DeferredLaunches(const DeferredLaunches&) = delete;
  DeferredLaunches& operator=(const DeferredLaunches&) = delete;
  virtual ~DeferredLaunches() = default;

  // Says that nothing reads the value at `out` any more.
  virtual void forget(uint64_t /*out*/) {}
  // The number of the runs that have left checks.
  virtual size_t checks() const { return 0; }
  // Says that the run that was put off last is the last of its line.
  virtual void end_line() = 0;

  // Receives launches that do the work of `lines` lines. There may be no
  // launches, if the lines made nothing that is read.
  using Give =
      std::function<void(std::span<const ReadyLaunch> launches, size_t lines)>;
  // Passes the launches for all runs to `give`, in order; then no runs are
  // left. With `waits` there are as few launches as possible, even if their
  // kernels must be compiled first.
  virtual void take(bool waits, const Give& give) = 0;
};

}  // namespace gt::exec::cuda
