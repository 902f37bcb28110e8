// The key part= of a line says that its tensor is a block of a larger tensor,
// the whole (ops/part.h). This file computes where the block's elements lie in
// the whole, so that an op that depends on positions gives the same results as
// it would on the whole.
#pragma once

#include <cstdint>

#include "ops/part.h"

namespace gt::exec {

// A block in row-major order, as `count` runs of `length` elements. Each run is
// contiguous in the whole.
class PartRuns {
 public:
  explicit PartRuns(const Call& call);
  PartRuns(const Shape& block, const Part& part);

  int64_t length() const { return length_; }
  int64_t count() const { return count_; }
  // Returns the index in the whole of the run's first element.
  int64_t begin(int64_t run) const;

  // Calls use(i, g, n) for consecutive parts of the block's elements [first,
  // last): the n elements from i on are those of the whole from g on.
  template <typename Use>
  void each(int64_t first, int64_t last, const Use& use) const {
    for (int64_t i = first; i < last;) {
      const int64_t run = i / length_;
      const int64_t into = i - run * length_;
      const int64_t rest = length_ - into;
      const int64_t n = rest < last - i ? rest : last - i;
      use(i, begin(run) + into, n);
      i += n;
    }
  }

 private:
  Shape outer_;         // the block's outer dimensions; their product is count_
  Shape outer_stride_;  // strides of these in the whole
  int64_t first_ = 0;
  int64_t length_ = 1;
  int64_t count_ = 1;
};

// Calls use(i, g) for each element i of a call's block and its index g in the
// whole.
template <typename Use>
void each_of_part(const PartRuns& runs, const Use& use) {
  runs.each(0, runs.length() * runs.count(),
            [&use](int64_t i, int64_t g, int64_t n) {
              for (int64_t k = 0; k < n; ++k) use(i + k, g + k);
            });
}

// The rows of a table that a block holds: `size` rows from `start` on, out of
// the `whole` rows that an index may name.
struct Window {
  int64_t start = 0;
  int64_t size = 0;
  int64_t whole = 0;

  bool names(int64_t row) const { return row >= 0 && row < whole; }
  // The same for a loop without exits, of which a compiler makes packs: a
  // number whose highest bit is set unless an index may name the row.
  uint64_t beyond(int64_t row) const {
    const auto named = static_cast<uint64_t>(row);
    return named | (static_cast<uint64_t>(whole) - 1 - named);
  }
  bool holds(int64_t row) const { return row >= start && row < start + size; }
};

// Returns the rows along one axis of the tensor to which the call's part=
// applies.
Window window_of(const Call& call, size_t axis);

// Returns the error for an index that names no row of the whole.
Error out_of_range(int64_t index, const Window& rows);

}  // namespace gt::exec
