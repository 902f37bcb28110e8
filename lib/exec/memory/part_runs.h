// A key part= says that a tensor of a line is a block of a larger one, the
// whole (ops/part.h). This tells where the block's elements lie in the whole,
// so that an op that depends on positions gives what it would give there.
#pragma once

#include <cstdint>

#include "ops/part.h"

namespace gt::exec {

// A block in row-major order is `count` runs of `length` elements, each of
// which lies in one piece in the whole.
class PartRuns {
 public:
  explicit PartRuns(const Call& call);
  PartRuns(const Shape& block, const Part& part);

  int64_t length() const { return length_; }
  int64_t count() const { return count_; }
  // Index in the whole of the run's first element.
  int64_t begin(int64_t run) const;

  // Calls use(i, g, n) for the block's elements [first, last): n of them from
  // i on are those of the whole from g on.
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
  Shape outer_;         // the block's dimensions that runs are numbered by
  Shape outer_stride_;  // in the whole
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

// The rows of a table that a block holds: `size` of them, from `start` on, of
// the `whole` rows that an index may name.
struct Window {
  int64_t start = 0;
  int64_t size = 0;
  int64_t whole = 0;

  bool names(int64_t row) const { return row >= 0 && row < whole; }
  bool holds(int64_t row) const { return row >= start && row < start + size; }
};

// The rows along one axis of the tensor that the call's part= is about.
Window window_of(const Call& call, size_t axis);

// The error of an index that names no row of the whole.
Error out_of_range(int64_t index, const Window& rows);

}  // namespace gt::exec
