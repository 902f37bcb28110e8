#include "ops/shape_rules.h"

#include <algorithm>
#include <cmath>

#include "file/stored.h"
#include "stream/line.h"

namespace gt {
namespace {

Error no_axis(const Call& call, size_t i, int64_t axis, size_t rank) {
  return Error{"axis " + std::to_string(axis) + " is not one of the " +
               std::to_string(rank) + " dimension" + (rank == 1 ? "" : "s") +
               " of " + call.describe(i)};
}

// Returns the indices start:stop:step of an axis with `size` elements. Bounds
// are counted from the end and clipped as in Python.
Result<Cut> cut_range(const Argument& a, int64_t size) {
  const Range range = parse_range(a.text).value();
  Cut cut;
  cut.step = range.step.value_or(1);
  if (cut.step <= 0) {
    return Error{"step of range " + std::string(a.text) +
                 " must be positive; flip first"};
  }
  const auto bound = [size](std::optional<int64_t> given, int64_t absent) {
    const int64_t at = given.value_or(absent);
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  cut.start = bound(range.start, 0);
  const int64_t span = bound(range.stop, size) - cut.start;
  cut.count = span <= 0 ? 0 : (span - 1) / cut.step + 1;
  return cut;
}

Result<Cut> cut_index(const Call& call, const Argument& a, int64_t axis) {
  const int64_t size = call.type(0).shape[static_cast<size_t>(axis)];
  const int64_t at = a.number.integer;
  if (at < -size || at >= size) {
    return Error{"index " + std::to_string(at) + " is outside axis " +
                 std::to_string(axis) + " of " + call.describe(0)};
  }
  return Cut{at < 0 ? at + size : at, 1, 1, true};
}

// Reads a slice in the form "slice x start axis= size=".
Result<std::vector<Cut>> cut_along_axis(const Call& call) {
  if (!call.has_key("axis") || !call.has_key("size") ||
      call.arguments.size() != 2) {
    return Error{"axis= and size= go together, with one start before them"};
  }
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  std::vector<Cut> cuts;
  for (const int64_t n : call.type(0).shape) cuts.push_back({0, n, 1, false});
  Cut& cut = cuts[static_cast<size_t>(axis.value())];
  const int64_t n = cut.count;
  cut.count = call.integer("size");
  const Argument& start = call.arguments[1];
  if (start.role == Role::kTensor) {
    if (Status s = need_integer(call, 1); !s.ok()) return s.error();
  } else if (start.role == Role::kNumber &&
             start.number.kind == Number::Kind::kInteger) {
    cut.start = start.number.integer;
    if (cut.start < 0) cut.start += n;
  } else {
    return Error{"start must be an integer or the name of a scalar, got " +
                 std::string(start.text)};
  }
  if (cut.start < 0 || cut.count < 0 || cut.start > n - cut.count) {
    return Error{"size " + std::to_string(cut.count) + " from " +
                 std::to_string(cut.start) + " is outside axis " +
                 std::to_string(axis.value()) + " of " + call.describe(0)};
  }
  return cuts;
}

bool needs_lift(const Call& call, size_t x, const std::vector<int64_t>& axes) {
  if (call.flag("keepdims") || axes.size() == call.type(x).shape.size()) {
    return false;
  }
  // Broadcasting alone brings leading axes back.
  return !axes.empty() && axes.back() != static_cast<int64_t>(axes.size()) - 1;
}

}  // namespace

size_t operand_named(const Call& call, std::string_view name) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const size_t p = call.op->parameter_of(i, call.arguments.size());
    if (call.op->operands[p].name == name) return i;
  }
  GT_CHECK(false && "an operand of that name");
  return 0;
}

Result<int64_t> one_axis(const Call& call, size_t i) {
  return one_axis(call, i, call.type(i).shape.size());
}

Result<int64_t> one_axis(const Call& call, size_t i, size_t rank) {
  const std::vector<int64_t> list = call.integers("axis");
  if (list.size() != 1) return Error{"key axis must be one dimension"};
  const int64_t axis = normal_axis(list[0], rank);
  if (axis < 0) return no_axis(call, i, list[0], rank);
  return axis;
}

Result<std::vector<int64_t>> axis_list(const Call& call, size_t i) {
  const size_t rank = call.type(i).shape.size();
  std::vector<int64_t> list = call.integers("axis");
  if (list.empty()) {
    for (size_t k = 0; k < rank; ++k) list.push_back(static_cast<int64_t>(k));
    return list;
  }
  for (int64_t& axis : list) {
    const int64_t normal = normal_axis(axis, rank);
    if (normal < 0) return no_axis(call, i, axis, rank);
    axis = normal;
  }
  std::sort(list.begin(), list.end());
  if (std::adjacent_find(list.begin(), list.end()) != list.end()) {
    return Error{"axis " + std::string(call.key("axis")) +
                 " names a dimension twice"};
  }
  return list;
}

Shape reduced_shape(const Shape& shape, const std::vector<int64_t>& axes,
                    bool keepdims) {
  Shape out;
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced =
        next < axes.size() && axes[next] == static_cast<int64_t>(i);
    if (!reduced) out.push_back(shape[i]);
    if (reduced && keepdims) out.push_back(1);
    if (reduced) ++next;
  }
  return out;
}

Result<std::vector<int64_t>> transpose_order(const Call& call) {
  const size_t rank = call.type(0).shape.size();
  std::vector<int64_t> order;
  if (!call.has_key("axes")) {
    for (size_t i = rank; i > 0; --i) {
      order.push_back(static_cast<int64_t>(i) - 1);
    }
    return order;
  }
  if (!parse_shape(unquote(call.key("axes")), true).ok()) {
    return Error{"key axes must be integers with commas, as 1,0, got " +
                 std::string(call.key("axes"))};
  }
  order = call.integers("axes");
  std::vector<bool> seen(rank, false);
  for (int64_t& axis : order) {
    axis = normal_axis(axis, rank);
    if (axis >= 0 && !seen[static_cast<size_t>(axis)]) {
      seen[static_cast<size_t>(axis)] = true;
      continue;
    }
    order.clear();
    break;
  }
  if (order.size() != rank) {
    return Error{"axes " + std::string(call.key("axes")) +
                 " must name each dimension of " + call.describe(0) + " once"};
  }
  return order;
}

Result<std::vector<Cut>> slice_cuts(const Call& call) {
  if (call.has_key("axis") || call.has_key("size")) return cut_along_axis(call);
  const Shape& shape = call.type(0).shape;
  const size_t given = call.arguments.size() - 1;
  if (given > shape.size()) {
    return Error{std::to_string(given) + " ranges for the " +
                 std::to_string(shape.size()) + " dimensions of " +
                 call.describe(0)};
  }
  std::vector<Cut> cuts;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i >= given) {
      cuts.push_back({0, shape[i], 1, false});
      continue;
    }
    const Argument& a = call.arguments[i + 1];
    Result<Cut> cut =
        Error{"expected a range or an index, got " + std::string(a.text) +
              "; a scalar's name takes axis= and size="};
    if (a.role == Role::kRange) cut = cut_range(a, shape[i]);
    if (a.role == Role::kNumber && a.number.kind == Number::Kind::kInteger) {
      cut = cut_index(call, a, static_cast<int64_t>(i));
    }
    if (!cut.ok()) return cut.error();
    cuts.push_back(cut.value());
  }
  return cuts;
}

Result<std::vector<Cut>> split_cuts(const Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  const auto k = static_cast<size_t>(axis.value());
  const int64_t size = call.type(0).shape[k];
  std::vector<int64_t> lengths = call.integers("sizes");
  const auto parts = static_cast<int64_t>(call.result_count);
  const std::string what = "axis " + std::to_string(k) + " of " +
                           call.describe(0) + " has size " +
                           std::to_string(size);
  if (!call.has_key("sizes")) {
    if (size % parts != 0) {
      return Error{what + ", which " + std::to_string(parts) +
                   " results do not divide; give sizes="};
    }
    lengths.assign(call.result_count, size / parts);
  }
  std::vector<Cut> cuts;
  int64_t at = 0;
  for (const int64_t length : lengths) {
    if (length < 0 || length > size - at) break;
    cuts.push_back({at, length, 1, false});
    at += length;
  }
  if (cuts.size() != lengths.size() || at != size ||
      cuts.size() != call.result_count) {
    return Error{what + ": sizes=" + std::string(call.key("sizes")) +
                 " must be one length a result and sum to it"};
  }
  return cuts;
}

std::string list_text(const std::vector<int64_t>& list) {
  std::string out;
  for (const int64_t n : list) {
    if (!out.empty()) out += ',';
    out += std::to_string(n);
  }
  return out.empty() ? "\"\"" : out;
}

std::string list_text(const Shape& shape) {
  return list_text(std::vector<int64_t>(shape.begin(), shape.end()));
}

std::string number_text(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

Status need(bool condition, std::string message) {
  if (condition) return ok_status();
  return Error{std::move(message)};
}

Status need_name(const Call& call, size_t i) {
  return need(!call.arguments[i].literal,
              "expected a tensor's name, got " + call.describe(i));
}

Status need_scalar(const Call& call, size_t i) {
  return need(call.type(i).shape.empty(),
              call.describe(i) + " must be a scalar or a number");
}

Status need_one_tensor(const Call& call, size_t i) {
  const StoredPath path = split_path(unquote(call.arguments[i].text));
  return need(!path.in_safetensors || !path.tensor.empty(),
              path.file + " holds tensors by name; say which, as \"" +
                  path.file + ":NAME\"");
}

std::string integer_hint(std::string_view text) {
  const auto number = parse_number(text);
  const bool is_whole = number && number->kind == Number::Kind::kFloat &&
                        std::abs(number->real) < 0x1p53 &&
                        number->real == std::floor(number->real);
  if (!is_whole) return "";
  return "; an integer is written in digits alone, here " +
         std::to_string(static_cast<int64_t>(number->real));
}

std::optional<int64_t> as_integer(double value) {
  if (value != std::trunc(value) || value < -0x1p63 || value >= 0x1p63) {
    return std::nullopt;
  }
  return static_cast<int64_t>(value);
}

Error not_held(Dtype dtype, std::string_view text) {
  return Error{std::string(text) + " does not fit into " +
               std::string(to_string(dtype))};
}

Status need_held_if_cast(Dtype dtype, const Number& number,
                         std::string_view text) {
  if (!is_integer(dtype)) return ok_status();
  const auto whole = number.kind == Number::Kind::kFloat
                         ? as_integer(std::trunc(number.real))
                         : number.integer;
  if (whole && holds(dtype, *whole)) return ok_status();
  return not_held(dtype, text);
}

bool is_beyond_64_bits(const Argument& a) {
  return a.literal && a.number.kind == Number::Kind::kFloat &&
         a.text.find_first_not_of("+-0123456789") == std::string_view::npos;
}

Status need_held(Dtype dtype, std::string_view text) {
  const Number n = *parse_number(text);
  if (n.kind == Number::Kind::kFloat) {
    return Error{std::string(text) + " is not a value of " +
                 std::string(to_string(dtype)) + integer_hint(text)};
  }
  if (holds(dtype, n.integer)) return ok_status();
  return not_held(dtype, text);
}

Status need_held_numbers(const Call& call) {
  const std::vector<Argument>& all = call.arguments;
  const auto is_tensor = [](const Argument& a) {
    return a.role == Role::kTensor && !a.absent && !a.literal;
  };
  const auto integers = std::ranges::find_if(all, [&](const Argument& a) {
    return is_tensor(a) && is_integer(a.type.dtype);
  });
  const bool floats = std::ranges::any_of(all, [&](const Argument& a) {
    return is_tensor(a) && is_float(a.type.dtype);
  });
  if (integers == all.end() || floats) return ok_status();
  for (size_t i = 0; i < all.size(); ++i) {
    const Argument& a = all[i];
    if (!a.literal) continue;
    const bool beyond = is_beyond_64_bits(a);
    const Dtype dtype = beyond ? integers->type.dtype : call.results[0].dtype;
    const bool held = is_float(dtype) || holds(dtype, a.number.integer);
    if (!beyond && held) continue;
    return Error{call.describe(i) + " does not fit into " +
                 std::string(to_string(dtype)) + ", the dtype of " +
                 call.describe(static_cast<size_t>(integers - all.begin())) +
                 "; cast that to a dtype that holds it"};
  }
  return ok_status();
}

Status need_integer(const Call& call, size_t i) {
  if (Status s = need_scalar(call, i); !s.ok()) return s;
  return need(is_integer(call.type(i).dtype),
              call.describe(i) + " must be an integer" +
                  integer_hint(call.arguments[i].text));
}

Status need_seed(const Call& call, size_t i) {
  if (call.given(i)) return need_integer(call, i);
  return Error{"seed is missing; run this through gt-emit, or give one"};
}

Status need_same_type(const Call& call, size_t i, size_t j) {
  return need(
      call.type(i) == call.type(j),
      call.describe(i) + " and " + call.describe(j) + " must have one type");
}

Status need_rank(size_t rank) {
  if (rank <= Shape::kMaxRank) return ok_status();
  return Error{"the result would have more than " +
               std::to_string(Shape::kMaxRank) + " dimensions"};
}

std::string half_word(const Call& call, std::string_view name, size_t) {
  if (name != "half") return "";
  return is_half(call.results[0].dtype) ? "1" : "0";
}

std::string reduction_word(const Call& call, std::string_view name, size_t) {
  const size_t x = operand_named(call, "x");
  const auto axes = axis_list(call, x);
  GT_CHECK(axes.ok());
  if (name == "axes") return list_text(axes.value());
  if (name == "lift") return needs_lift(call, x, axes.value()) ? "1" : "0";
  if (name != "count") return "";
  int64_t count = 1;
  for (const int64_t axis : axes.value()) {
    count *= call.type(x).shape[static_cast<size_t>(axis)];
  }
  return std::to_string(count);
}

Status types_reduced(Call& call, Dtype dtype) {
  const auto axes = axis_list(call, 0);
  if (!axes.ok()) return axes.error();
  call.results.push_back({dtype, reduced_shape(call.type(0).shape, axes.value(),
                                               call.flag("keepdims"))});
  return ok_status();
}

Status types_reduced(Call& call) {
  return types_reduced(call, call.type(0).dtype);
}

Status types_reduced_grad(Call& call) {
  const auto axes = axis_list(call, 1);
  if (!axes.ok()) return axes.error();
  const Shape reduced =
      reduced_shape(call.type(1).shape, axes.value(), call.flag("keepdims"));
  const Type wanted{call.type(1).dtype, reduced};
  if (call.type(0) != wanted) {
    return Error{call.describe(0) + " must have the type " + to_string(wanted) +
                 " that " + call.describe(1) + " reduces to"};
  }
  call.results.push_back({call.type(0).dtype, call.type(1).shape});
  return ok_status();
}

Status need_elements(const Call& call, size_t i) {
  const auto axes = axis_list(call, i);
  if (!axes.ok()) return axes.error();
  for (const int64_t axis : axes.value()) {
    if (call.type(i).shape[static_cast<size_t>(axis)] != 0) continue;
    return Error{call.describe(i) + " has size 0 along axis " +
                 std::to_string(axis)};
  }
  return ok_status();
}

Status need_divisor(const Call& call) {
  return need(!call.has_key("divisor") || call.integer("divisor") >= 0,
              "key divisor must be at least 0, got " +
                  std::string(call.key("divisor")));
}

Dtype wide_dtype(Dtype dtype) {
  return dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
}

Status widen_result(Call& call) {
  const std::string_view out = call.key("out");
  if (out.empty()) return ok_status();
  Dtype& dtype = call.results[0].dtype;
  if (out == "f32" && is_half(dtype)) dtype = Dtype::kF32;
  return need(out == to_string(dtype),
              "out=" + std::string(out) + " of operands in " +
                  std::string(to_string(dtype)) +
                  "; it is their dtype, or f32 where that is f16 or bf16");
}

Status types_as_first(Call& call) {
  call.results.push_back(call.type(0));
  return ok_status();
}

Status types_none(Call&) { return ok_status(); }

namespace {

// Checks gather and scatter_add: index, operand 1, must not be larger than x
// except along the axis.
Status check_index(const Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  const Shape& x = call.type(0).shape;
  const Shape& index = call.type(1).shape;
  bool fits = x.size() == index.size();
  for (size_t i = 0; fits && i < x.size(); ++i) {
    fits = static_cast<int64_t>(i) == axis.value() || index[i] <= x[i];
  }
  return need(fits, call.describe(1) + " must have as many dimensions as " +
                        call.describe(0) +
                        " and be no larger except along axis " +
                        std::to_string(axis.value()));
}

}  // namespace

Status types_gather(Call& call) {
  if (Status s = check_index(call); !s.ok()) return s;
  call.results.push_back({call.type(0).dtype, call.type(1).shape});
  return ok_status();
}

Status types_scatter_add(Call& call) {
  if (Status s = check_index(call); !s.ok()) return s;
  call.results.push_back(call.type(0));
  if (call.type(0).dtype != call.type(2).dtype) {
    return Error{call.describe(0) + " and " + call.describe(2) +
                 " must have one dtype"};
  }
  return need(
      call.type(1).shape == call.type(2).shape,
      call.describe(1) + " and " + call.describe(2) + " must have one shape");
}

}  // namespace gt
