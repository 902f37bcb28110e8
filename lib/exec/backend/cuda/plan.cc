#include "exec/backend/cuda/plan.h"

#include <bit>

#include "exec/backend/row_table.h"

namespace gt::exec::cuda {
namespace {

const PlanRow* row_of(const Call& call) {
  static const RowTable<PlanRow> table{
      reduction_plans(), layout_plans(),    creation_plans(), index_plans(),
      order_plans(),     scan_plans(),      product_plans(),  optimizer_plans(),
      row_plans(),       attention_plans(), window_plans()};
  return table.find(call.op->name);
}

}  // namespace

Slot number(double value) {
  return {Slot::Home::kNumber, 0, std::bit_cast<uint64_t>(value)};
}
Slot number(int64_t value) {
  return {Slot::Home::kNumber, 0, static_cast<uint64_t>(value)};
}

Plan one_step(Step step) {
  Plan plan;
  plan.steps.push_back(std::move(step));
  return plan;
}

std::optional<Plan> own_plan(const Call& call) {
  if (const PlanRow* row = row_of(call); row != nullptr) {
    if (auto plan = row->make(call)) return plan;
  }
  return pointwise_plan(call);
}

std::optional<Plan> plan_of(const Call& call) {
  if (auto plan = own_plan(call)) return plan;
  return expansion_plan(call);
}

}  // namespace gt::exec::cuda
