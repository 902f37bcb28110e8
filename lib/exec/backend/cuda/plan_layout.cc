// Plans ops that move elements: transpose, slice, flip, windows, concat and
// pad, and the gradient of windows. It also plans expand and cast, the way
// point-wise ops are planned.
#include <algorithm>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"
#include "exec/backend/element.h"
#include "ops/shape_rules.h"
#include "stream/number.h"

namespace gt::exec::cuda {
namespace {

// What a launch of move() reads or writes: it starts `offset` elements in and
// follows the strides.
struct Side {
  Dtype dtype;
  Strides strides{};
  int64_t offset = 0;
};

void write_sides(Launch& launch, const Shape& shape, const Side& from,
                 const Side& into) {
  launch.n[1] = from.offset;
  launch.n[2] = into.offset;
  int64_t* rest = write_place(launch.n.data() + 3, shape, from.strides);
  write_place(rest, shape, into.strides);
}

// With no more rows or columns than this, tiles would be mostly empty.
constexpr int64_t kThinMatrix = 8;

// Returns a launch that moves elements by tiles, if the dimension that is
// contiguous in the operand is not the last one of the result; else none.
std::optional<Launch> transpose(const Shape& shape, size_t i, const Side& from,
                                const Side& into) {
  if (from.dtype != into.dtype) return std::nullopt;
  JoinedDimensions joined =
      join_dimensions(shape, {from.strides, into.strides});
  const size_t rank = joined.sizes.size();
  if (rank < 2 || joined.strides[1][rank - 1] != 1) return std::nullopt;
  size_t row = 0;
  while (row + 1 < rank && joined.strides[0][row] != 1) ++row;
  if (row + 1 == rank || joined.sizes[row] <= kThinMatrix ||
      joined.sizes[rank - 1] <= kThinMatrix) {
    return std::nullopt;
  }
  // kSide of text/layout.cuh.
  constexpr int64_t kSide = 32;
  const auto tiles = [](int64_t n) { return parts_of(n, kSide); };
  Shape matrices;
  Strides from_matrix{};
  Strides into_matrix{};
  for (size_t d = 0; d + 1 < rank; ++d) {
    if (d == row) continue;
    from_matrix[matrices.size()] = joined.strides[0][d];
    into_matrix[matrices.size()] = joined.strides[1][d];
    matrices.push_back(joined.sizes[d]);
  }
  const int64_t rows = joined.sizes[row];
  const int64_t columns = joined.sizes[rank - 1];
  Launch launch = block_launch(
      make_source("layout.cuh",
                  instance("transpose", {bits_of(from.dtype)}) + "(a);"),
      matrices.elements() * tiles(rows) * tiles(columns));
  const std::array<int64_t, 9> numbers = {
      matrices.elements() * tiles(rows) * tiles(columns),
      from.offset,
      into.offset,
      rows,
      columns,
      joined.strides[0][rank - 1],
      joined.strides[1][row],
      tiles(rows),
      tiles(columns)};
  int64_t* rest = std::copy(numbers.begin(), numbers.end(), launch.n.begin());
  write_place(write_place(rest, matrices, from_matrix), matrices, into_matrix);
  launch.in = {operand(i)};
  launch.out = {result(0)};
  return launch;
}

// Returns a launch that copies elements of operand `i` to elements of result 0.
Launch move(const Shape& shape, size_t i, const Side& from, const Side& into) {
  if (auto by_tiles = transpose(shape, i, from, into)) return *by_tiles;
  const bool same = from.dtype == into.dtype;
  const std::string body =
      instance("move", {same ? bits_of(from.dtype) : word_of(from.dtype),
                        same ? bits_of(into.dtype) : word_of(into.dtype)}) +
      "(a);";
  Launch launch =
      each_launch(make_source("layout.cuh", body), shape.elements());
  write_sides(launch, shape, from, into);
  launch.in = {operand(i)};
  launch.out = {result(0)};
  return launch;
}

std::optional<Plan> plan_view(const Call& call) {
  const View view = view_of(call);
  const Dtype dtype = call.type(0).dtype;
  const Side from{dtype, view.strides, view.offset};
  const Side into{dtype, strides_of(view.shape), 0};
  if (!view.starts) return one_step(move(view.shape, 0, from, into));

  Launch launch = each_launch({}, view.shape.elements());
  write_sides(launch, view.shape, from, into);
  launch.in = {operand(0)};
  launch.out = {result(0)};
  launch.source = make_source(
      "layout.cuh",
      instance("move_from", {bits_of(dtype), source_of(call, 1)}) + "(a);");
  launch.in.push_back(operand(1));
  launch.n[68] = view.start_size;
  launch.n[69] = view.start_most;
  launch.n[70] = view.start_stride;
  Plan plan = one_step(std::move(launch));
  const Dtype start = call.type(1).dtype;
  plan.witness = {1, false};
  plan.explain = [view, start](int64_t, const Peek& peek) {
    const auto bytes = peek(1, 0);
    if (!bytes.ok()) return bytes.error();
    const auto at = offset_of(view, load_int(start, bytes.value().data(), 0));
    return at.ok() ? Error{"the start of a slice is out of range"} : at.error();
  };
  return plan;
}

std::optional<Plan> plan_concat(const Call& call) {
  Plan plan;
  const Type& to = call.results[0];
  const Strides strides = strides_of(to.shape);
  const size_t axis = single_axis(call, 0);
  int64_t offset = 0;
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    const Type& type = call.type(k);
    plan.steps.emplace_back(move(type.shape, k,
                                 {type.dtype, strides_of(type.shape), 0},
                                 {to.dtype, strides, offset}));
    offset += type.shape[axis] * strides[axis];
  }
  return plan;
}

Launch fill(const Type& type, std::string_view source, Slot value) {
  Launch launch = each_launch(
      make_source("layout.cuh",
                  instance("fill", {word_of(type.dtype), source}) + "(a);"),
      type.elements());
  launch.in = {value};
  launch.out = {result(0)};
  return launch;
}

// Fills the result with the border value, and then copies the part of x that is
// not cropped.
std::optional<Plan> plan_pad(const Call& call) {
  const Type& to = call.results[0];
  const Number value = *parse_number(call.key("value"));
  const bool real = value.kind == Number::Kind::kFloat;
  Plan plan = one_step(fill(to, real ? "Literal<f64>" : "Literal<i64>",
                            real ? number(value.real) : number(value.integer)));
  Shape kept = call.type(0).shape;
  Side from{to.dtype, strides_of(kept), 0};
  Side into{to.dtype, strides_of(to.shape), 0};
  const std::vector<int64_t> width = call.integers("width");
  for (size_t d = 0; d < kept.size(); ++d) {
    const int64_t before = width[2 * d];
    const int64_t after = width[2 * d + 1];
    kept[d] += std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    from.offset -= std::min<int64_t>(before, 0) * from.strides[d];
    into.offset += std::max<int64_t>(before, 0) * into.strides[d];
  }
  const bool is_empty =
      std::any_of(kept.begin(), kept.end(), [](int64_t n) { return n <= 0; });
  if (!is_empty) plan.steps.emplace_back(move(kept, 0, from, into));
  return plan;
}

std::optional<Plan> plan_cast(const Call& call) {
  if (!call.arguments[0].literal) return pointwise_plan(call);
  return one_step(fill(call.results[0], source_of(call, 0), operand(0)));
}

std::optional<Plan> plan_windows_grad(const Call& call) {
  const Type& from = call.type(0);
  const Type& to = call.results[0];
  if (!is_float(to.dtype)) return std::nullopt;
  const auto axis =
      static_cast<size_t>(one_axis(call, 0, to.shape.size()).value());
  Launch launch = each_launch(
      make_source("layout.cuh", instance("windows_grad", {word_of(from.dtype),
                                                          word_of(to.dtype)}) +
                                    "(a);"),
      to.elements());
  launch.n[1] = to.shape[axis];
  launch.n[2] = strides_of(to.shape)[axis];
  launch.n[3] = from.shape[axis];
  launch.n[4] = from.shape.back();
  launch.n[5] = call.integer("stride");
  launch.n[6] = call.integer("dilation");
  launch.in = {operand(0)};
  launch.out = {result(0)};
  return one_step(std::move(launch));
}

constexpr PlanRow kLayoutPlans[] = {
    {"transpose", plan_view}, {"expand", pointwise_plan},
    {"slice", plan_view},     {"flip", plan_view},
    {"windows", plan_view},   {"windows_grad", plan_windows_grad},
    {"concat", plan_concat},  {"pad", plan_pad},
    {"cast", plan_cast},
};

}  // namespace

std::span<const PlanRow> layout_plans() { return kLayoutPlans; }

}  // namespace gt::exec::cuda
