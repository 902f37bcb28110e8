// Row-major tensors read through strides: broadcasting, and the layout ops that
// only rename positions (transpose, expand, slice, flip, windows).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ops/call.h"
#include "stream/type.h"

namespace gt::exec {

using Strides = std::array<int64_t, Shape::kMaxRank>;  // in elements

// Returns the strides of a row-major tensor of this shape.
Strides strides_of(const Shape& shape);
// Returns the strides by which an operand is read at each position of `result`,
// to which it broadcasts: 0 in a dimension along which it is repeated.
Strides broadcast_strides(const Shape& operand, const Shape& result);

// A tensor that is read from an operand in another order: element [i, j, ...]
// of the view is element offset + i*strides[0] + j*strides[1] + ... of the
// operand.
struct View {
  Shape shape;
  Strides strides{};
  int64_t offset = 0;
  // A slice with `size=` may start at a scalar, argument 1, that is known only
  // when the kernel runs. Then offset_of() adds start * start_stride; a
  // negative start counts from the end.
  bool starts = false;       // true if this is such a slice
  int64_t start_size = 0;    // the operand's size along the axis
  int64_t start_most = 0;    // the last start for which the slice fits
  int64_t start_stride = 0;  // in elements
};

// Returns the view that a transpose, expand, slice, flip or windows call
// describes.
View view_of(const Call& call);

// Returns the offset of a view whose slice starts at `start`. Error: `start` is
// out of range.
Result<int64_t> offset_of(const View& view, int64_t start);

// A shape without its dimensions of size 1, in which neighbouring dimensions
// are joined into one wherever every operand can step through both as if they
// were one.
struct JoinedDimensions {
  Shape sizes;
  std::vector<Strides> strides;  // one for each operand
};
JoinedDimensions join_dimensions(const Shape& shape,
                                 const std::vector<Strides>& strides);

// A tensor seen as lines along one of its axes. Line l begins at element
// first(l), and consecutive elements of a line are `step` elements apart.
struct Lines {
  int64_t count = 1;
  int64_t size = 1;  // elements of each line
  int64_t step = 1;

  int64_t first(int64_t line) const {
    // Returns the index of the first element of `line`.
    return line / step * step * size + line % step;
  }
};
// Returns the lines along dimension `axis`. A scalar is one line of one
// element.
Lines lines_along(const Shape& shape, size_t axis);
// Returns the lines along the last axis, whose elements are contiguous.
Lines rows_of(const Shape& shape);

// Steps over a shape in row-major order and keeps the offset, in elements, of
// the current element of each of N operands.
template <size_t N>
class Walk {
 public:
  Walk(const Shape& shape, const std::array<Strides, N>& strides)
      : shape_(shape), strides_(strides) {}

  int64_t operator[](size_t operand) const { return offset_[operand]; }

  // Moves to position i of that order.
  void seek(int64_t i) {
    offset_ = {};
    for (size_t d = shape_.size(); d-- > 0;) {
      position_[d] = i % shape_[d];
      i /= shape_[d];
      for (size_t k = 0; k < N; ++k) {
        offset_[k] += position_[d] * strides_[k][d];
      }
    }
  }

  void next() {
    for (size_t d = shape_.size(); d-- > 0;) {
      ++position_[d];
      for (size_t k = 0; k < N; ++k) offset_[k] += strides_[k][d];
      if (position_[d] < shape_[d]) return;
      position_[d] = 0;
      for (size_t k = 0; k < N; ++k) offset_[k] -= strides_[k][d] * shape_[d];
    }
  }

  void previous() {
    for (size_t d = shape_.size(); d-- > 0;) {
      for (size_t k = 0; k < N; ++k) offset_[k] -= strides_[k][d];
      if (position_[d]-- > 0) return;
      position_[d] = shape_[d] - 1;
      for (size_t k = 0; k < N; ++k) offset_[k] += strides_[k][d] * shape_[d];
    }
  }

 private:
  Shape shape_;
  std::array<Strides, N> strides_;
  Strides position_{};
  std::array<int64_t, N> offset_{};
};

// Returns which dimensions of the operand the call's axis= names; all of them
// if the call has no axis=.
std::array<bool, Shape::kMaxRank> axis_mask(const Call& call, size_t operand);
// Returns what a mean over axis= divides its sums by: divisor=, or else the
// number of elements of each.
int64_t mean_divisor(const Call& call);
// Returns the one dimension of the operand that the call's axis= names.
size_t single_axis(const Call& call, size_t operand);

// Returns the dtype in which a point-wise op computes: bool for `and`, `or` and
// `not`; for any other op with a bool result, such as a comparison, one that
// holds the values of all operands, but that numbers beside tensors of floats
// are rounded to theirs; else the dtype of its result. No dtype holds those of
// an i64 and of a float: that is f64, and integer_operand() tells.
Dtype domain_of(const Call& call);

// Returns which operand of a comparison is an i64 that is compared with a
// float; nothing for any other call. Such a comparison is that of excess()
// (formulas.def) with 0.
std::optional<size_t> integer_operand(const Call& call);

}  // namespace gt::exec
