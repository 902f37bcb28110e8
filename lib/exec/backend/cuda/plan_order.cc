// Plans argsort, and randperm, which sorts random words.
#include <algorithm>
#include <optional>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/sort_steps.h"
#include "exec/backend/cuda/source.h"
#include "exec/memory/part_runs.h"
#include "ops/part.h"

namespace gt::exec::cuda {

void add_sort(Plan& plan, const SortedLines& sorted, Slot keys, Slot into) {
  const Lines& lines = sorted.lines;
  const int64_t n = lines.count * lines.size;
  if (n == 0) return;
  int passes = 1;
  while (int64_t{1} << passes < lines.size) ++passes;
  const size_t bytes = static_cast<size_t>(n) * sizeof(int64_t);
  Slot spare[2];
  for (int i = 0; i < std::min(passes - 1, 2); ++i) {
    spare[i] = scratch(plan.add_scratch(bytes));
  }
  const auto flag = [](bool b) { return b ? "true" : "false"; };
  for (int pass = 0; pass < passes; ++pass) {
    const bool first = pass == 0;
    const bool last = pass == passes - 1;
    Launch launch = each_launch(
        make_source("order.cuh",
                    instance("merge", {sorted.key, flag(sorted.descending),
                                       flag(first), flag(last)}) +
                        "(a);"),
        n);
    write_lines(launch, lines);
    launch.n[entry::kRunLength] = int64_t{1} << pass;
    launch.in = {keys, first ? Slot{} : spare[(pass - 1) % 2]};
    launch.out = {last ? into : spare[pass % 2]};
    plan.steps.emplace_back(std::move(launch));
  }
}

namespace {

std::optional<Plan> plan_argsort(const Call& call) {
  const Type& from = call.type(0);
  Plan plan;
  add_sort(plan,
           {word_of(from.dtype), lines_along(from.shape, single_axis(call, 0)),
            call.flag("descending")},
           operand(0), result(0));
  return plan;
}

// Sorts all indices of the whole tensor by their random words, and copies those
// of the part.
std::optional<Plan> plan_randperm(const Call& call) {
  const Type& type = call.results[0];
  const int64_t whole = window_of(call, 0).whole;
  const size_t bytes = static_cast<size_t>(whole) * sizeof(int64_t);
  Plan plan;
  const Slot keys = scratch(plan.add_scratch(bytes));
  const Slot order = scratch(plan.add_scratch(bytes));
  Launch words =
      each_launch(make_source("layout.cuh",
                              instance("words", {source_of(call, 1)}) + "(a);"),
                  whole);
  words.in = {scalar_slot(call, 1, 0)};
  words.out = {keys};
  plan.steps.emplace_back(std::move(words));
  add_sort(plan, {"uint64_t", rows_of({whole})}, keys, order);

  Launch cut = each_launch(
      make_source("layout.cuh",
                  instance("move", {"i64", word_of(type.dtype)}) + "(a);"),
      type.elements());
  cut.n[1] = part_of(call).value().first();
  const Strides step = strides_of(type.shape);
  write_place(write_place(cut.n.data() + 3, type.shape, step), type.shape,
              step);
  cut.in = {order};
  cut.out = {result(0)};
  plan.steps.emplace_back(std::move(cut));
  return plan;
}

constexpr PlanRow kOrderPlans[] = {
    {"argsort", plan_argsort},
    {"randperm", plan_randperm},
};

}  // namespace

std::span<const PlanRow> order_plans() { return kOrderPlans; }

}  // namespace gt::exec::cuda
