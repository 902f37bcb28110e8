// sum, mean, prod, max, min, argmax and argmin over any axes, and cumsum.
#include <algorithm>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {
namespace {

// How many elements a block, and how many one thread, reduces as one part.
constexpr int64_t kBlockPart = 16384;
constexpr int64_t kThreadPart = 512;
// Up to here one thread takes a row.
constexpr int64_t kShortRow = 32;

// The operand as results and what each is made of.
struct Layout {
  Shape kept, reduced;
  Strides kept_strides{}, reduced_strides{};
};

Layout layout_of(const Shape& shape,
                 const std::array<bool, Shape::kMaxRank>& is_reduced) {
  Layout layout;
  const Strides strides = strides_of(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    Shape& sizes = is_reduced[d] ? layout.reduced : layout.kept;
    (is_reduced[d] ? layout.reduced_strides
                   : layout.kept_strides)[sizes.size()] = strides[d];
    sizes.push_back(shape[d]);
  }
  return layout;
}

// Whether elements of neighbouring results lie side by side, rather than those
// of one result.
bool is_by_columns(const Layout& layout) {
  const size_t kept = layout.kept.size();
  const size_t reduced = layout.reduced.size();
  if (kept == 0 || layout.kept.elements() == 1) return false;
  if (reduced == 0) return true;
  return layout.kept_strides[kept - 1] < layout.reduced_strides[reduced - 1];
}

// One pass: from elements, or from the totals of an earlier pass, to totals or
// to results.
struct Pass {
  std::string function;  // "Sum<f32>"
  std::string from;
  std::string into;
  int64_t results = 1;
  int64_t divisor = 1;
  Layout layout;
};

int64_t parts_of(int64_t reduced, int64_t part) {
  return std::max<int64_t>(1, (reduced + part - 1) / part);
}

struct Cut {
  bool by_thread;
  int64_t part;
  int64_t parts;
};
Cut cut_of(const Layout& layout) {
  const int64_t reduced = layout.reduced.elements();
  const bool by_thread = is_by_columns(layout) || reduced <= kShortRow;
  const int64_t part = by_thread ? kThreadPart : kBlockPart;
  return {by_thread, part, parts_of(reduced, part)};
}

Launch launch_of(const Pass& pass, const Cut& cut) {
  const std::string body =
      instance(cut.by_thread ? "reduce_by_thread" : "reduce_by_block",
               {pass.function, pass.from, pass.into}) +
      "(a);";
  Source source = make_source("reduce.cuh", body);
  const int64_t units = pass.results * cut.parts;
  Launch launch = cut.by_thread ? each_launch(std::move(source), units)
                                : block_launch(std::move(source), units);
  launch.n[0] = pass.results;
  launch.n[1] = pass.layout.reduced.elements();
  launch.n[2] = cut.parts;
  launch.n[3] = cut.part;
  launch.n[4] = pass.divisor;
  int64_t* rest = write_place(launch.n.data() + 5, pass.layout.kept,
                              pass.layout.kept_strides);
  write_place(rest, pass.layout.reduced, pass.layout.reduced_strides);
  return launch;
}

// Passes until each result is one part.
Plan reduce(Layout layout, const std::string& function, Dtype from, Dtype to,
            size_t total_bytes, int64_t divisor) {
  Plan plan;
  Pass pass{function, instance("Elements", {function, word_of(from)}), "",
            layout.kept.elements(), divisor, std::move(layout)};
  Slot source = operand(0);
  for (bool done = false; !done;) {
    const Cut cut = cut_of(pass.layout);
    done = cut.parts == 1;
    pass.into = done ? instance("Results", {function, word_of(to)})
                     : instance("Totals", {function});
    Launch launch = launch_of(pass, cut);
    launch.in = {source};
    if (done) {
      launch.out = {result(0)};
    } else {
      source = scratch(plan.add_scratch(
          static_cast<size_t>(pass.results * cut.parts) * total_bytes));
      launch.out = {source};
    }
    plan.steps.emplace_back(std::move(launch));
    pass.from = instance("Partial", {function});
    pass.layout = Layout{{pass.results}, {cut.parts}, {cut.parts}, {1}};
  }
  return plan;
}

std::optional<Plan> plan_reduction(const Call& call) {
  const Dtype from = call.type(0).dtype;
  const std::string& op = call.op->name;
  const char* name = op == "sum"    ? "Sum"
                     : op == "mean" ? "Mean"
                     : op == "prod" ? "Prod"
                     : op == "max"  ? "Max"
                                    : "Min";
  if (op == "mean" && !is_float(from)) return std::nullopt;
  Layout layout = layout_of(call.type(0).shape, axis_mask(call, 0));
  const int64_t divisor = layout.reduced.elements();
  return reduce(std::move(layout), instance(name, {word_of(from)}), from,
                call.results[0].dtype, 8, divisor);
}

std::optional<Plan> plan_argmax(const Call& call) {
  const Dtype from = call.type(0).dtype;
  std::array<bool, Shape::kMaxRank> mask;
  mask.fill(!call.has_key("axis"));
  if (call.has_key("axis")) mask[single_axis(call, 0)] = true;
  const char* name = call.op->name == "argmax" ? "Argmax" : "Argmin";
  return reduce(layout_of(call.type(0).shape, mask),
                instance(name, {word_of(from)}), from, Dtype::kI64, 16, 1);
}

std::optional<Plan> plan_cumsum(const Call& call) {
  const Type& from = call.type(0);
  int64_t rows = 1;
  int64_t step = 1;
  if (!from.shape.empty()) {
    const size_t axis = single_axis(call, 0);
    rows = from.shape[axis];
    step = strides_of(from.shape)[axis];
  }
  const int64_t lines = rows == 0 ? 0 : from.elements() / rows;
  Launch launch = each_launch(
      make_source("reduce.cuh",
                  instance("cumsum", {word_of(from.dtype),
                                      word_of(call.results[0].dtype)}) +
                      "(a);"),
      lines);
  launch.n[1] = rows;
  launch.n[2] = step == 0 ? 1 : step;
  launch.in = {operand(0)};
  launch.out = {result(0)};
  Plan plan;
  plan.steps.emplace_back(std::move(launch));
  return plan;
}

constexpr PlanRow kRows[] = {
    {"sum", plan_reduction},  {"mean", plan_reduction}, {"prod", plan_reduction},
    {"max", plan_reduction},  {"min", plan_reduction},  {"argmax", plan_argmax},
    {"argmin", plan_argmax},  {"cumsum", plan_cumsum},
};

}  // namespace

std::span<const PlanRow> reduction_plans() { return kRows; }

}  // namespace gt::exec::cuda
