// Row-major tensors seen through strides: broadcasting, and the layout ops
// that only rename positions (transpose, expand, slice, flip).
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "ops/call.h"
#include "stream/type.h"

namespace gt::exec {

using Strides = std::array<int64_t, Shape::kMaxRank>;  // in elements

Strides strides_of(const Shape& shape);
// Of an operand as it is read over `result`: 0 where it is repeated.
Strides broadcast_strides(const Shape& operand, const Shape& result);

// Element [i, j, ...] of the result is element offset + i*strides[0] +
// j*strides[1] + ... of the operand.
struct View {
  Shape shape;
  Strides strides{};
  int64_t offset = 0;
  // Of a slice whose start is a scalar, argument 1: the offset grows by start *
  // start_stride, start being in [0, start_most].
  bool starts = false;
  int64_t start_size = 0;
  int64_t start_most = 0;
  int64_t start_stride = 0;
};

// The view that a transpose, expand, slice, flip or windows stands for.
View view_of(const Call& call);

// Its offset with the slice's start; an error if that is out of range.
Result<int64_t> offset_of(const View& view, int64_t start);

// Steps over a shape in row-major order, keeping an offset for each of N
// operands.
template <size_t N>
class Walk {
 public:
  Walk(const Shape& shape, const std::array<Strides, N>& strides)
      : shape_(shape), strides_(strides) {}

  int64_t operator[](size_t operand) const { return offset_[operand]; }

  // To the i-th position of the order.
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

// The axis= key as a mask over the operand's dimensions; all when absent.
std::array<bool, Shape::kMaxRank> axis_mask(const Call& call, size_t operand);
// A single axis= of an operand.
size_t single_axis(const Call& call, size_t operand);

// The dtype that a point-wise op computes in: that of its result, or, where
// the result only says whether, that of the operands together.
Dtype domain_of(const Call& call);

}  // namespace gt::exec
