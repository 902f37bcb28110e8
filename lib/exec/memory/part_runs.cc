#include "exec/memory/part_runs.h"

namespace gt::exec {

PartRuns::PartRuns(const Call& call)
    : PartRuns(part_block(call), part_of(call).value()) {}

PartRuns::PartRuns(const Shape& block, const Part& part)
    : first_(part.first()) {
  size_t outer = block.size();
  int64_t stride = 1;
  for (bool whole = true; whole && outer > 0; --outer) {
    length_ *= block[outer - 1];
    stride *= part.whole[outer - 1];
    whole = block[outer - 1] == part.whole[outer - 1];
  }
  for (size_t d = 0; d < outer; ++d) {
    outer_.push_back(block[d]);
    outer_stride_.push_back(0);
    count_ *= block[d];
  }
  for (size_t d = outer; d > 0; --d) {
    outer_stride_[d - 1] = stride;
    stride *= part.whole[d - 1];
  }
}

int64_t PartRuns::begin(int64_t run) const {
  int64_t at = first_;
  for (size_t d = outer_.size(); d > 0; --d) {
    at += run % outer_[d - 1] * outer_stride_[d - 1];
    run /= outer_[d - 1];
  }
  return at;
}

Window window_of(const Call& call, size_t axis) {
  const Shape& block = part_block(call);
  if (block.empty()) return {0, 1, 1};  // a scalar is a table of one row
  const Part part = part_of(call).value();
  return {part.start[axis], block[axis], part.whole[axis]};
}

Error out_of_range(int64_t index, const Window& rows) {
  return Error{
      "index " + std::to_string(index) + " is out of range, which is " +
      (rows.whole == 0 ? "empty" : "0 to " + std::to_string(rows.whole - 1))};
}

}  // namespace gt::exec
