// Runs of one kernel over other memory each, as one launch.
//
// A step of training has a line for each parameter, most of which are so small
// that a launch takes longer than its work. Their kernels take a table of Items
// (text/common.cuh), so runs that follow one another and agree in all else,
// such as the rate, are items of one launch. It gives the bits of a launch for
// each.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "exec/backend/cuda/put_off.h"

namespace gt::exec::cuda {

class Batch final : public PutOff {
 public:
  struct Run {
    ReadyLaunch work;                 // without items
    std::optional<ReadyLaunch> tell;  // behind it, if it leaves a check
    Item item;
    std::vector<Extent> reads, writes;
  };
  // Whether a run can be added without the batch being launched before: they
  // agree, there is room, and none of them writes what another reads or writes.
  bool joins(const Run& run) const;
  // joins() has said so, or the batch is empty.
  void add(const Run& run);

  size_t checks() const override;
  std::span<const ReadyLaunch> take(bool waits) override;

 private:
  // As many as keep any GPU busy: each of them may compute powers.
  static constexpr int64_t kMostBlocks = 1024;

  size_t count_ = 0;  // of runs
  Items items_;
  std::array<ReadyLaunch, 2> launches_;  // the work, and what tells
  bool tells_ = false;
  std::vector<Extent> reads_, writes_;
};

}  // namespace gt::exec::cuda
