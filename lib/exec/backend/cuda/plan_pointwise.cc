// Plans point-wise ops, casts and expands as kernels of one op each.
#include <memory>
#include <optional>
#include <string>

#include "exec/backend/cuda/fusion.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

std::optional<Plan> pointwise_plan(const Call& call) {
  if (call.results.size() != 1 || call.op->name == "rand") return std::nullopt;
  auto fusion = std::make_shared<Fusion>();
  std::vector<Fusion::Id> arguments;
  Plan plan;
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    const Argument& a = call.arguments[k];
    if (a.absent) return std::nullopt;
    if (a.literal || a.role == Role::kNumber) {
      arguments.push_back(
          fusion->add_number(a.type, operand(k), std::string(a.text)));
      continue;
    }
    arguments.push_back(fusion->add_memory(a.type, operand(k)));
    if (a.type == call.results[0]) plan.in_place.emplace_back(k, 0);
  }
  const auto made = fusion->add(call, arguments);
  if (!made) return std::nullopt;
  auto launch = fusion->launch(*made, result(0));
  if (!launch) return std::nullopt;
  plan.steps.emplace_back(std::move(*launch));
  plan.explain = explain_of(call);
  if (plan.explain == nullptr) {
    plan.pointwise = Pointwise{std::move(fusion), *made, call.results[0]};
  }
  return plan;
}

}  // namespace gt::exec::cuda
