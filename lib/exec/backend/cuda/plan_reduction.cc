// sum, mean, prod, max, min, argmax and argmin over any axes, and cumsum.
#include <algorithm>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/reduce_steps.h"
#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {
namespace {

// How many elements a block, and how many one thread, reduces as one part.
constexpr int64_t kBlockPart = 16384;
constexpr int64_t kThreadPart = 512;
// Up to here one thread takes a row.
constexpr int64_t kShortRow = 32;

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

Launch launch_of(const Reduction& r, const Layout& layout, const Cut& cut,
                 const std::string& from, const std::string& into) {
  const std::string body =
      instance(cut.by_thread ? "reduce_by_thread" : "reduce_by_block",
               {r.function, from, into}) +
      "(a);";
  Source source = make_source(r.header, body);
  const int64_t results = layout.kept.elements();
  Launch launch = cut.by_thread
                      ? each_launch(std::move(source), results * cut.parts)
                      : block_launch(std::move(source), results * cut.parts);
  launch.n[0] = results;
  launch.n[1] = layout.reduced.elements();
  launch.n[2] = cut.parts;
  launch.n[3] = cut.part;
  launch.n[4] = r.divisor;
  int64_t* rest =
      write_place(launch.n.data() + 5, layout.kept, layout.kept_strides);
  write_place(rest, layout.reduced, layout.reduced_strides);
  return launch;
}

}  // namespace

// Passes until each result is one part.
void add_reduction(Plan& plan, const Reduction& r) {
  Layout layout = r.layout;
  std::string from = r.from;
  std::vector<Slot> in = r.in;
  for (bool done = false; !done;) {
    const Cut cut = cut_of(layout);
    done = cut.parts == 1;
    const int64_t results = layout.kept.elements();
    Launch launch =
        launch_of(r, layout, cut, from,
                  done ? instance("Results", {r.function, word_of(r.to)})
                       : instance("Totals", {r.function}));
    launch.in = in;
    launch.out = {
        done ? r.out
             : scratch(plan.add_scratch(
                   static_cast<size_t>(results * cut.parts) * r.total_bytes))};
    in = launch.out;
    plan.steps.emplace_back(std::move(launch));
    from = instance("Partial", {r.function});
    layout = Layout{{results}, {cut.parts}, {cut.parts}, {1}};
  }
}

namespace {

Plan reduce(const Call& call, Layout layout, const char* name,
            size_t total_bytes) {
  const std::string_view from = word_of(call.type(0).dtype);
  Reduction r;
  r.function = instance(name, {from});
  r.from = instance("Elements", {r.function, from});
  r.in = {operand(0)};
  r.out = result(0);
  r.to = call.results[0].dtype;
  r.total_bytes = total_bytes;
  r.divisor = layout.reduced.elements();
  r.layout = std::move(layout);
  Plan plan;
  add_reduction(plan, r);
  return plan;
}

// A total has 8 bytes at most.
template <const char* kName>
std::optional<Plan> plan_reduction(const Call& call) {
  return reduce(call, layout_of(call.type(0).shape, axis_mask(call, 0)), kName,
                8);
}

template <const char* kName>
std::optional<Plan> plan_extreme(const Call& call) {
  std::array<bool, Shape::kMaxRank> mask;
  mask.fill(!call.has_key("axis"));
  if (call.has_key("axis")) mask[single_axis(call, 0)] = true;
  return reduce(call, layout_of(call.type(0).shape, mask), kName, 16);
}

std::optional<Plan> plan_mean(const Call& call) {
  static constexpr char kMean[] = "Mean";
  if (!is_float(call.type(0).dtype)) return std::nullopt;
  return plan_reduction<kMean>(call);
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

// Of text/reduce.cuh.
constexpr char kSum[] = "Sum";
constexpr char kProd[] = "Prod";
constexpr char kMax[] = "Max";
constexpr char kMin[] = "Min";
constexpr char kArgmax[] = "Argmax";
constexpr char kArgmin[] = "Argmin";

constexpr PlanRow kRows[] = {
    {"sum", plan_reduction<kSum>},
    {"prod", plan_reduction<kProd>},
    {"max", plan_reduction<kMax>},
    {"min", plan_reduction<kMin>},
    {"argmax", plan_extreme<kArgmax>},
    {"argmin", plan_extreme<kArgmin>},
    {"mean", plan_mean},
    {"cumsum", plan_cumsum},
};

}  // namespace

std::span<const PlanRow> reduction_plans() { return kRows; }

}  // namespace gt::exec::cuda
