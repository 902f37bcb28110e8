// Plans gather, embedding, scatter, scatter_add and embedding_grad. When
// several indices write to one place, their values are added in the order of
// the indices: the indices are sorted by the place they write to, and each
// place collects its own values.
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/sort_steps.h"
#include "exec/backend/cuda/source.h"
#include "exec/backend/element.h"
#include "exec/memory/part_runs.h"

namespace gt::exec::cuda {
namespace {

// Writes the numbers that row_of() of text/index.cuh reads, and that it reports
// errors by.
void write_rows(const Window& rows, Launch& launch) {
  launch.n[68] = rows.start;
  launch.n[69] = rows.size;
  launch.n[70] = rows.whole;
}

void explain_rows(Plan& plan, const Window& rows, Dtype index) {
  plan.witness = {1, true};
  plan.explain = [rows, index](int64_t position, const Peek& peek) {
    const auto bytes = peek(1, position);
    if (!bytes.ok()) return bytes.error();
    return out_of_range(load_int(index, bytes.value().data(), 0), rows);
  };
}

// The operand of gather and of the scatters: its strides outside of the axis,
// and the step along it.
struct Along {
  Window rows;
  Strides rest{};
  int64_t step = 1;
};
Along along_axis(const Call& call) {
  const Shape& shape = call.type(0).shape;
  const size_t axis = single_axis(call, 0);
  Along along{window_of(call, axis), strides_of(shape), 1};
  if (!shape.empty()) along.step = along.rest[axis];
  along.rest[axis] = 0;
  return along;
}

Plan pick(const Call& call, const Window& rows, int64_t step,
          const Strides& of_index, const Strides& of_row) {
  const Type& to = call.results[0];
  const Dtype index = call.type(1).dtype;
  Launch launch = each_launch(
      make_source(
          "index.cuh",
          instance("pick", {bits_of(to.dtype), word_of(index)}) + "(a);"),
      to.elements());
  launch.n[1] = step;
  write_place(write_place(launch.n.data() + 2, to.shape, of_index), to.shape,
              of_row);
  write_rows(rows, launch);
  launch.in = {operand(0), operand(1)};
  launch.out = {result(0)};
  Plan plan;
  plan.steps.emplace_back(std::move(launch));
  explain_rows(plan, rows, index);
  return plan;
}

std::optional<Plan> plan_gather(const Call& call) {
  const Along along = along_axis(call);
  return pick(call, along.rows, along.step, strides_of(call.results[0].shape),
              along.rest);
}

// The last dimension of the result is that of the table; the dimensions before
// it are those of the index.
std::optional<Plan> plan_embedding(const Call& call) {
  const Shape& to = call.results[0].shape;
  Strides of_index = strides_of(call.type(1).shape);
  Strides of_row{};
  of_index[to.size() - 1] = 0;
  of_row[to.size() - 1] = 1;
  return pick(call, window_of(call, 0), call.type(0).shape[1], of_index,
              of_row);
}

// The places that the indices write to (keys), and their sorted order.
struct Targets {
  Slot keys, order;
};
Targets add_targets(Plan& plan, const Call& call, const Window& rows,
                    int64_t step, const Strides& rest) {
  const Type& index = call.type(1);
  const int64_t n = index.elements();
  const size_t bytes = static_cast<size_t>(n) * sizeof(int64_t);
  const Targets targets{scratch(plan.add_scratch(bytes)),
                        scratch(plan.add_scratch(bytes))};
  Launch launch = each_launch(
      make_source("index.cuh",
                  instance("targets", {word_of(index.dtype)}) + "(a);"),
      n);
  launch.n[1] = step;
  write_place(launch.n.data() + 2, index.shape, rest);
  write_rows(rows, launch);
  launch.in = {Slot{}, operand(1)};
  launch.out = {targets.keys};
  plan.steps.emplace_back(std::move(launch));
  add_sort(plan, {"uint64_t", rows_of({n})}, targets.keys, targets.order);
  explain_rows(plan, rows, index.dtype);
  return targets;
}

std::optional<Plan> plan_scatter(const Call& call) {
  const Along along = along_axis(call);
  Plan plan;
  const Targets targets =
      add_targets(plan, call, along.rows, along.step, along.rest);
  const Type& to = call.results[0];
  const bool is_last = call.op->name == "scatter";
  const auto word = [&](const Type& type) {
    return is_last ? bits_of(to.dtype) : word_of(type.dtype);
  };
  Launch launch = each_launch(
      make_source("index.cuh",
                  instance("collect", {word(call.type(0)), word(call.type(2)),
                                       word(to), is_last ? "true" : "false"}) +
                      "(a);"),
      to.elements());
  launch.n[1] = call.type(1).elements();
  write_place(launch.n.data() + 2, call.type(1).shape,
              strides_of(call.type(2).shape));
  launch.in = {operand(0), operand(2), targets.keys, targets.order};
  launch.out = {result(0)};
  plan.steps.emplace_back(std::move(launch));
  return plan;
}

// Each row of the result finds its keys once, and then collects its values in
// packs.
std::optional<Plan> plan_embedding_grad(const Call& call) {
  Plan plan;
  const Targets targets = add_targets(plan, call, window_of(call, 0), 1, {});
  const Type& to = call.results[0];
  const int64_t rows = to.shape[0];
  const int64_t width = to.shape[1];
  const Slot begins = scratch(
      plan.add_scratch(static_cast<size_t>(rows + 1) * sizeof(int64_t)));
  Launch look = each_launch(make_source("index.cuh", "begins(a);"), rows + 1);
  look.n[1] = call.type(1).elements();
  look.in = {targets.keys, targets.order};
  look.out = {begins};
  plan.steps.emplace_back(std::move(look));

  int64_t pack = 16 / static_cast<int64_t>(size_of(to.dtype));
  if (width % pack != 0) pack = 1;
  Launch collect = each_launch(
      make_source(
          "index.cuh",
          instance("collect_rows", {word_of(call.type(0).dtype),
                                    word_of(to.dtype), std::to_string(pack)}) +
              "(a);"),
      to.elements() / pack);
  collect.n[1] = width / pack;
  collect.in = {operand(0), targets.order, begins};
  collect.out = {result(0)};
  plan.steps.emplace_back(std::move(collect));
  return plan;
}

constexpr PlanRow kIndexPlans[] = {
    {"gather", plan_gather},
    {"embedding", plan_embedding},
    {"scatter", plan_scatter},
    {"scatter_add", plan_scatter},
    {"embedding_grad", plan_embedding_grad},
};

}  // namespace

std::span<const PlanRow> index_plans() { return kIndexPlans; }

}  // namespace gt::exec::cuda
