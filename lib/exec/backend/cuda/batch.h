// Several runs of one kernel over different memory, done by one launch.
//
// A training step has a line for each parameter, and most parameters are so
// small that a launch takes longer than its work. The kernels of such lines
// take a table of Items (text/common.cuh), so consecutive runs that agree in
// everything else, such as the learning rate, become items of one launch. So do
// chains of one form (chains.h). The results have the same bits as with a
// launch for each run.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "exec/backend/cuda/deferred_launches.h"

namespace gt::exec::cuda {

class Batch final : public DeferredLaunches {
 public:
  struct Run {
    // Identifies the kernel; no other kernel has this number.
    uint64_t kernel = 0;
    // The launch that does the work; its items are not set.
    ReadyLaunch work;
    // The launch behind `work` that reports wrong data, if the run leaves a
    // check.
    std::optional<ReadyLaunch> tell;
    Item item;
    std::vector<Extent> reads, writes;
  };
  // True if `run` can be added to the batch as it stands; false if the batch
  // must be launched first. The runs must agree in kernel and arguments, there
  // must be room for one more, and none may write memory that another reads or
  // writes.
  bool joins(const Run& run) const;
  // Adds a run that does the work of `lines` lines. joins() must have returned
  // true for it, unless the batch is empty.
  void add(const Run& run, size_t lines = 0);
  size_t size() const { return count_; }
  uint64_t kernel() const { return kernel_; }
  // Drops the runs and returns the number of lines whose work they did.
  size_t clear();

  size_t checks() const override;
  void end_line() override { ++lines_; }
  void take(bool waits, const Give& give) override;

 private:
  // Enough blocks to keep any GPU busy. More would cost time, since each block
  // may have to compute powers.
  static constexpr int64_t kMostBlocks = 1024;

  size_t count_ = 0;  // number of runs
  size_t lines_ = 0;  // number of lines whose work the runs do
  uint64_t kernel_ = 0;
  Items items_;
  // The work, and the launch that reports wrong data.
  std::array<ReadyLaunch, 2> launches_;
  bool tells_ = false;
  std::vector<Extent> reads_, writes_;
};

}  // namespace gt::exec::cuda
