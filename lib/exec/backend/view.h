// Row-major tensors seen through strides: broadcasting, and the layout ops
// that only rename positions (transpose, expand, slice, flip).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ops/call.h"
#include "stream/type.h"

namespace gt::exec {

using Strides = std::array<int64_t, Shape::kMaxRank>;  // in elements

Strides strides_of(const Shape& shape);
// The strides by which an operand is read at each position of `result`, to
// which it broadcasts: 0 in a dimension in which it is repeated.
Strides broadcast_strides(const Shape& operand, const Shape& result);

// Element [i, j, ...] of the result is element offset + i*strides[0] +
// j*strides[1] + ... of the operand.
struct View {
  Shape shape;
  Strides strides{};
  int64_t offset = 0;
  // A slice of `size=` elements may start where a scalar says that is known
  // only when it runs, argument 1. Then offset_of() adds start * start_stride;
  // a negative start counts from the end.
  bool starts = false;       // it is such a slice
  int64_t start_size = 0;    // of the operand along the axis
  int64_t start_most = 0;    // the last start that leaves room
  int64_t start_stride = 0;  // in elements
};

// The view that a transpose, expand, slice, flip or windows stands for.
View view_of(const Call& call);

// The view's offset when its slice starts there. Error: the start is out of
// range.
Result<int64_t> offset_of(const View& view, int64_t start);

// A shape without its dimensions of size 1, in which neighbouring dimensions
// are one wherever each operand steps through both as through one.
struct JoinedDimensions {
  Shape sizes;
  std::vector<Strides> strides;  // of each operand
};
JoinedDimensions join_dimensions(const Shape& shape,
                                 const std::vector<Strides>& strides);

// A tensor as lines along one of its axes. Line l begins with element first(l),
// and the next of its elements is `step` further.
struct Lines {
  int64_t count = 1;
  int64_t size = 1;  // elements of each line
  int64_t step = 1;

  int64_t first(int64_t line) const {
    return line / step * step * size + line % step;
  }
};
// A scalar is one line of one element.
Lines lines_along(const Shape& shape, size_t axis);
// The lines along the last axis, whose elements lie side by side.
Lines rows_of(const Shape& shape);

// Steps over a shape in row-major order and keeps, for each of N operands, the
// offset of its element in elements.
template <size_t N>
class Walk {
 public:
  Walk(const Shape& shape, const std::array<Strides, N>& strides)
      : shape_(shape), strides_(strides) {}

  int64_t operator[](size_t operand) const { return offset_[operand]; }

  // Goes to the i-th position of the order.
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

 private:
  Shape shape_;
  std::array<Strides, N> strides_;
  Strides position_{};
  std::array<int64_t, N> offset_{};
};

// The dimensions of the operand that the call's axis= names; all of them when
// the call has none.
std::array<bool, Shape::kMaxRank> axis_mask(const Call& call, size_t operand);
// The one dimension of the operand that the call's axis= names.
size_t single_axis(const Call& call, size_t operand);

// The dtype that a point-wise op computes in: that of its result; where the
// result is bool, as of a comparison, the one that its operands promote to.
Dtype domain_of(const Call& call);

}  // namespace gt::exec
