// Point-wise ops: kernels of one op each.
#include <optional>
#include <string>

#include "exec/backend/cuda/fusion.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

std::optional<PointwiseCall> pointwise_call(const Call& call) {
  if (call.results.size() != 1 || call.op->name == "rand") return std::nullopt;
  PointwiseCall made;
  std::vector<Fusion::Id> arguments;
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    const Argument& a = call.arguments[k];
    if (a.absent) return std::nullopt;
    arguments.push_back(
        a.literal || a.role == Role::kNumber
            ? made.fusion.add_number(a.type, operand(k), std::string(a.text))
            : made.fusion.add_memory(a.type, operand(k)));
  }
  const auto result = made.fusion.add(call, arguments);
  if (!result) return std::nullopt;
  made.result = *result;
  return made;
}

std::optional<Plan> pointwise_plan(const Call& call) {
  if (call.op->name == "cast") return std::nullopt;
  const auto made = pointwise_call(call);
  if (!made) return std::nullopt;
  auto launch = made->fusion.launch(made->result, result(0));
  if (!launch) return std::nullopt;
  Plan plan = one_step(std::move(*launch));
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    const Argument& a = call.arguments[k];
    const bool is_tensor = !a.literal && a.role != Role::kNumber;
    if (is_tensor && a.type == call.results[0])
      plan.in_place.emplace_back(k, 0);
  }
  plan.explain = explain_of(call);
  return plan;
}

}  // namespace gt::exec::cuda
