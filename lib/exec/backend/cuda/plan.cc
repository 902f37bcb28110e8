#include "exec/backend/cuda/plan.h"

#include <bit>
#include <string_view>
#include <unordered_map>

namespace gt::exec::cuda {
namespace {

using Table = std::unordered_map<std::string_view, PlanRow>;

const Table& table() {
  static const Table instance = [] {
    Table t;
    for (const auto& rows :
         {reduction_plans(), layout_plans(), creation_plans(), index_plans(),
          order_plans(), product_plans(), optimizer_plans(), row_plans(),
          attention_plans(), window_plans()}) {
      for (const PlanRow& row : rows) {
        const bool fresh = t.emplace(row.op, row).second;
        GT_CHECK(fresh);
      }
    }
    return t;
  }();
  return instance;
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
  if (const auto it = table().find(call.op->name); it != table().end()) {
    if (auto plan = it->second.make(call)) return plan;
  }
  return pointwise_plan(call);
}

std::optional<Plan> plan_of(const Call& call) {
  if (auto plan = own_plan(call)) return plan;
  return expansion_plan(call);
}

}  // namespace gt::exec::cuda
