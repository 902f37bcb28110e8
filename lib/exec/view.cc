#include "exec/view.h"

#include <algorithm>
#include <string>

namespace gt {
namespace {

void view_transpose(const Call& call, View& view) {
  const Strides own = strides_of(call.type(0).shape);
  const std::vector<int64_t> axes = call.integers("axes");
  const size_t rank = view.shape.size();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t from =
        axes.empty() ? static_cast<int64_t>(rank - 1 - d) : axes[d];
    view.strides[d] = own[static_cast<size_t>(normal_axis(from, rank))];
  }
}

void view_flip(const Call& call, View& view) {
  view.strides = strides_of(view.shape);
  const auto flipped = axis_mask(call, 0);
  for (size_t d = 0; d < view.shape.size(); ++d) {
    if (!flipped[d]) continue;
    view.offset += view.strides[d] * (view.shape[d] - 1);
    view.strides[d] = -view.strides[d];
  }
  if (view.shape.elements() == 0) view.offset = 0;
}

// slice x START axis=A size=N
void view_slice_run(const Call& call, View& view) {
  const Shape& from = call.type(0).shape;
  const size_t axis = single_axis(call, 0);
  view.strides = strides_of(from);
  view.start_size = from[axis];
  view.start_most = from[axis] - view.shape[axis];
  view.start_stride = view.strides[axis];
  view.starts = true;
}

// First index of a range over `size`, as Python counts.
int64_t range_start(const Range& range, int64_t size) {
  const bool backwards = range.step.value_or(1) < 0;
  if (!range.start) return backwards ? size - 1 : 0;
  int64_t start = *range.start;
  if (start < 0) start += size;
  return std::clamp<int64_t>(start, backwards ? -1 : 0,
                             backwards ? size - 1 : size);
}

// slice x 0:4 ::2 3
void view_slice_each(const Call& call, View& view) {
  const Shape& from = call.type(0).shape;
  const Strides own = strides_of(from);
  size_t to = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    if (d + 1 >= call.arguments.size() || call.arguments[d + 1].absent) {
      view.strides[to++] = own[d];
      continue;
    }
    const Argument& a = call.arguments[d + 1];
    if (a.text.find(':') == std::string_view::npos) {
      const int64_t index = a.number.integer;
      view.offset += own[d] * (index < 0 ? index + from[d] : index);
      continue;
    }
    view.offset += own[d] * range_start(a.range, from[d]);
    view.strides[to++] = own[d] * a.range.step.value_or(1);
  }
}

}  // namespace

Strides strides_of(const Shape& shape) {
  Strides strides{};
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

Strides broadcast_strides(const Shape& operand, const Shape& result) {
  const Strides own = strides_of(operand);
  const size_t lead = result.size() - operand.size();
  Strides strides{};
  for (size_t d = 0; d < operand.size(); ++d) {
    strides[lead + d] = operand[d] == 1 ? 0 : own[d];
  }
  return strides;
}

View view_of(const Call& call) {
  View view;
  view.shape = call.results[0].shape;
  const std::string& op = call.op->name;
  if (op == "transpose") {
    view_transpose(call, view);
  } else if (op == "expand") {
    view.strides = broadcast_strides(call.type(0).shape, view.shape);
  } else if (op == "flip") {
    view_flip(call, view);
  } else if (call.has_key("size")) {
    view_slice_run(call, view);
  } else {
    view_slice_each(call, view);
  }
  return view;
}

Result<int64_t> offset_of(const View& view, int64_t start) {
  const int64_t from = start < 0 ? start + view.start_size : start;
  if (from < 0 || from > view.start_most) {
    return Error{"start " + std::to_string(start) + " with size " +
                 std::to_string(view.start_size - view.start_most) +
                 " is out of range for " + std::to_string(view.start_size) +
                 " rows"};
  }
  return view.offset + from * view.start_stride;
}

std::array<bool, Shape::kMaxRank> axis_mask(const Call& call, size_t operand) {
  std::array<bool, Shape::kMaxRank> mask{};
  const size_t rank = call.type(operand).shape.size();
  const std::vector<int64_t> axes = call.integers("axis");
  if (axes.empty()) mask.fill(true);
  for (const int64_t axis : axes) {
    if (rank > 0) mask[static_cast<size_t>(normal_axis(axis, rank))] = true;
  }
  return mask;
}

size_t single_axis(const Call& call, size_t operand) {
  const size_t rank = call.type(operand).shape.size();
  if (rank == 0) return 0;  // a scalar passes for one row
  return static_cast<size_t>(normal_axis(call.integer("axis"), rank));
}

}  // namespace gt
