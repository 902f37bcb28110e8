#include "exec/backend/view.h"

#include <algorithm>
#include <string>

#include "ops/shape_rules.h"

namespace gt::exec {
namespace {

// Returns the value of a shape rule's result. bind() has checked everything
// that these rules can reject, so there is always one.
template <typename T>
T certain(Result<T> result) {
  GT_CHECK(result.ok());
  return std::move(result.value());
}

void view_transpose(const Call& call, View& view) {
  const Strides own = strides_of(call.type(0).shape);
  const std::vector<int64_t> order = certain(transpose_order(call));
  for (size_t d = 0; d < order.size(); ++d) {
    view.strides[d] = own[static_cast<size_t>(order[d])];
  }
}

void view_flip(const Call& call, View& view) {
  view.strides = strides_of(view.shape);
  const bool empty = view.shape.elements() == 0;
  const std::vector<int64_t> axes = certain(axis_list(call, 0));
  for (const int64_t axis : axes) {
    const auto d = static_cast<size_t>(axis);
    if (!empty) view.offset += view.strides[d] * (view.shape[d] - 1);
    view.strides[d] = -view.strides[d];
  }
}

void view_slice(const Call& call, View& view) {
  const Shape& from = call.type(0).shape;
  const Strides own = strides_of(from);
  const std::vector<Cut> cuts = certain(slice_cuts(call));
  size_t to = 0;
  for (size_t d = 0; d < cuts.size(); ++d) {
    view.offset += cuts[d].start * own[d];
    if (!cuts[d].dropped) view.strides[to++] = cuts[d].step * own[d];
  }
  view.starts = call.has_key("size") && call.arguments[1].role == Role::kTensor;
  if (!view.starts) return;
  const size_t axis = single_axis(call, 0);
  view.start_size = from[axis];
  view.start_most = from[axis] - view.shape[axis];
  view.start_stride = own[axis];
}

// The axis steps from window to window, and the new dimension steps within one
// window.
void view_windows(const Call& call, View& view) {
  const Strides own = strides_of(call.type(0).shape);
  const size_t axis = single_axis(call, 0);
  view.strides = own;
  view.strides[axis] = own[axis] * call.integer("stride");
  view.strides[view.shape.size() - 1] = own[axis] * call.integer("dilation");
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
  } else if (op == "windows") {
    view_windows(call, view);
  } else {
    view_slice(call, view);
  }
  return view;
}

Result<int64_t> offset_of(const View& view, int64_t start) {
  const int64_t from = start < 0 ? start + view.start_size : start;
  if (from < 0 || from > view.start_most) {
    return Error{"size " + std::to_string(view.start_size - view.start_most) +
                 " from " + std::to_string(start) + " is out of range for " +
                 std::to_string(view.start_size) + " rows"};
  }
  return view.offset + from * view.start_stride;
}

JoinedDimensions join_dimensions(const Shape& shape,
                                 const std::vector<Strides>& strides) {
  JoinedDimensions joined;
  joined.strides.resize(strides.size());
  Shape& sizes = joined.sizes;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool joins = !sizes.empty();
    for (size_t k = 0; k < strides.size() && joins; ++k) {
      joins = joined.strides[k][sizes.size() - 1] == strides[k][d] * shape[d];
    }
    if (joins) {
      sizes[sizes.size() - 1] *= shape[d];
    } else {
      sizes.push_back(shape[d]);
    }
    for (size_t k = 0; k < strides.size(); ++k) {
      joined.strides[k][sizes.size() - 1] = strides[k][d];
    }
  }
  return joined;
}

Lines lines_along(const Shape& shape, size_t axis) {
  if (shape.empty()) return {};
  const int64_t size = shape[axis];
  if (shape.elements() == 0) return {0, size, 1};
  return {shape.elements() / size, size, strides_of(shape)[axis]};
}

Lines rows_of(const Shape& shape) {
  return lines_along(shape, shape.size() - 1);
}

std::array<bool, Shape::kMaxRank> axis_mask(const Call& call, size_t operand) {
  std::array<bool, Shape::kMaxRank> mask{};
  const std::vector<int64_t> axes = certain(axis_list(call, operand));
  for (const int64_t axis : axes) {
    mask[static_cast<size_t>(axis)] = true;
  }
  return mask;
}

int64_t mean_divisor(const Call& call) {
  if (call.has_key("divisor")) return call.integer("divisor");
  const Shape& shape = call.type(0).shape;
  const auto mask = axis_mask(call, 0);
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d) count *= mask[d] ? shape[d] : 1;
  return count;
}

size_t single_axis(const Call& call, size_t operand) {
  const size_t rank = call.type(operand).shape.size();
  if (rank == 0) return 0;  // a scalar counts as one row
  return static_cast<size_t>(certain(one_axis(call, operand)));
}

namespace {

bool is_truth(const Call& call) {
  const std::string& op = call.op->name;
  return op == "and" || op == "or" || op == "not";
}

}  // namespace

// A number beside a tensor of floats takes its dtype.
std::optional<size_t> integer_operand(const Call& call) {
  if (call.results[0].dtype != Dtype::kBool || is_truth(call) ||
      call.arguments.size() != 2) {
    return std::nullopt;
  }
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Argument& a = call.arguments[i];
    const Argument& x = call.arguments[1 - i];
    if (a.type.dtype == Dtype::kI64 && is_float(x.type.dtype) &&
        (!a.literal || x.literal)) {
      return i;
    }
  }
  return std::nullopt;
}

Dtype domain_of(const Call& call) {
  const Dtype result = call.results[0].dtype;
  if (result != Dtype::kBool || is_truth(call)) return result;
  const Dtype joined = promote(call.arguments);
  const bool has_floats = std::ranges::any_of(
      call.arguments,
      [](const Argument& a) { return !a.literal && is_float(a.type.dtype); });
  Dtype domain = joined;
  for (const Argument& a : call.arguments) {
    const Dtype d = a.type.dtype;
    if (a.literal
            ? has_floats || !is_float(d)
            : is_float(joined) && traits(d).digits <= traits(joined).digits) {
      continue;  // the dtype to which all are promoted holds it
    }
    domain = is_float(joined) ? Dtype::kF64 : promote(domain, d);
  }
  return domain;
}

}  // namespace gt::exec
