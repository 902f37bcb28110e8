// Plans the optimizers' steps, each as one pass over memory; and the checks of
// scalars, of a step number and of dropout's probability.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"
#include "exec/backend/element.h"
#include "exec/backend/probability.h"
#include "exec/backend/step_number.h"

namespace gt::exec::cuda {
namespace {

// Wrong data is only possible in operand `i`, a scalar to which `check` then
// objects.
void explain_scalar(Plan& plan, size_t i, Dtype dtype,
                    Status (*check)(double)) {
  plan.witness = {i, false};
  plan.explain = [i, dtype, check](int64_t, const Peek& peek) {
    const auto bytes = peek(i, 0);
    if (!bytes.ok()) return bytes.error();
    const Status s = check(load_real(dtype, bytes.value().data(), 0));
    return s.ok() ? Error{"a scalar is out of range"} : s.error();
  };
}

// Returns a plan of one launch that takes items, with as many blocks as there
// are packs for their threads.
Plan step_plan(const std::string& body, const Type& type) {
  const int64_t pack = 16 / static_cast<int64_t>(size_of(type.dtype));
  Plan plan = one_step(
      each_launch(make_items_source("optimizer.cuh", body + "(a, items);"),
                  parts_of(type.elements(), pack)));
  std::get<Launch>(plan.steps[0]).n = {};
  plan.item = ItemSlots{{}, {}, type.elements()};
  return plan;
}

std::optional<Plan> plan_sgd(const Call& call) {
  const Type& type = call.results[0];
  const bool velocity = call.given(2);
  Plan plan = step_plan(
      instance("sgd", {word_of(type.dtype), velocity ? "true" : "false",
                       source_of(call, 3)}),
      type);
  std::get<Launch>(plan.steps[0]).in = {operand(3),
                                        number(call.number("momentum"))};
  plan.item->in = {operand(0), operand(1)};
  plan.item->out = {result(0)};
  plan.in_place = {{0, 0}};
  if (velocity) {
    plan.item->in.push_back(operand(2));
    plan.item->out.push_back(result(1));
    plan.in_place.emplace_back(2, 1);
  }
  return plan;
}

std::optional<Plan> plan_adamw(const Call& call) {
  const Type& type = call.results[0];
  Plan plan = step_plan(
      instance("adamw",
               {word_of(type.dtype), source_of(call, 4), source_of(call, 5)}),
      type);
  auto& launch = std::get<Launch>(plan.steps[0]);
  launch.in = {operand(4), operand(5), number(call.number("beta1")),
               number(call.number("beta2"))};
  launch.n[0] = std::bit_cast<int64_t>(call.number("eps"));
  launch.n[1] = std::bit_cast<int64_t>(call.number("decay"));
  plan.item->in = {operand(0), operand(1), operand(2), operand(3)};
  plan.item->out = {result(0), result(1), result(2)};
  plan.in_place = {{0, 0}, {2, 1}, {3, 2}};
  // A number of the line was checked when the line was bound.
  if (!call.arguments[4].literal) {
    explain_scalar(plan, 4, call.type(4).dtype, check_step_number);
  }
  return plan;
}

// Plans an op that copies a scalar if `check` has no objection. `name` is that
// of its function in optimizer.cuh.
Plan checked_plan(const Call& call, const char* name, Status (*check)(double)) {
  Launch launch = each_launch(
      make_source(
          "optimizer.cuh",
          instance(name, {word_of(call.results[0].dtype), source_of(call, 0)}) +
              "(a);"),
      1);
  launch.in = {operand(0)};
  launch.out = {result(0)};
  Plan plan;
  plan.steps.emplace_back(std::move(launch));
  explain_scalar(plan, 0, call.type(0).dtype, check);
  return plan;
}

std::optional<Plan> plan_step_number(const Call& call) {
  return checked_plan(call, "step_number", check_step_number);
}

std::optional<Plan> plan_probability(const Call& call) {
  return checked_plan(call, "probability", check_probability);
}

constexpr PlanRow kOptimizerPlans[] = {
    {"sgd", plan_sgd},
    {"adamw", plan_adamw},
    {"step_number", plan_step_number},
    {"probability", plan_probability},
};

}  // namespace

std::span<const PlanRow> optimizer_plans() { return kOptimizerPlans; }

}  // namespace gt::exec::cuda
