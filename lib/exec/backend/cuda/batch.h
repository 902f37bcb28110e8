// Runs of one kernel over other memory each, as one launch.
//
// A step of training has a line for each parameter, most of which are so small
// that a launch takes longer than its work. Their kernels take a table of Items
// (text/common.cuh), so runs that follow one another and agree in all else,
// such as the rate, are items of one launch. So are chains of one form
// (chains.h). It gives the bits of a launch for each.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "exec/backend/cuda/put_off.h"

namespace gt::exec::cuda {

class Batch final : public PutOff {
 public:
  struct Run {
    uint64_t kernel = 0;              // no other has this number
    ReadyLaunch work;                 // without items
    std::optional<ReadyLaunch> tell;  // behind it, if it leaves a check
    Item item;
    std::vector<Extent> reads, writes;
  };
  // Whether a run can be added without the batch being launched before: they
  // agree, there is room, and none of them writes what another reads or writes.
  bool joins(const Run& run) const;
  // joins() has said so, or the batch is empty.
  void add(const Run& run, size_t lines = 0);
  size_t size() const { return count_; }
  uint64_t kernel() const { return kernel_; }
  // Drops the runs. Returns the lines whose work they were.
  size_t clear();

  size_t checks() const override;
  void end_line() override { ++lines_; }
  void take(bool waits, const Give& give) override;

 private:
  // As many as keep any GPU busy: each of them may compute powers.
  static constexpr int64_t kMostBlocks = 1024;

  size_t count_ = 0;  // of runs
  size_t lines_ = 0;  // whose work they are
  uint64_t kernel_ = 0;
  Items items_;
  std::array<ReadyLaunch, 2> launches_;  // the work, and what tells
  bool tells_ = false;
  std::vector<Extent> reads_, writes_;
};

}  // namespace gt::exec::cuda
