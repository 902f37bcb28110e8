#include "shard/precision.h"

#include <algorithm>

namespace gt::shard {

std::optional<Dtype> precision_of(const LineWork& work, const Config& config) {
  const Call& call = work.call;
  const Dtype said = work.scope.precision.value_or(config.precision());
  if (!is_half(said) || !call.op->is_product() || work.at.depth > 0) {
    return std::nullopt;
  }
  bool any = false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    any |= is_narrowed(call, i);
    const bool is_factor =
        is_tensor(call.arguments[i]) &&
        call.op->reads_factor(call.op->parameter_of(i, call.arguments.size()));
    // A product of several dtypes is one of the largest of them.
    if (is_factor && call.type(i).dtype != Dtype::kF32 &&
        call.type(i).dtype != said) {
      return std::nullopt;
    }
  }
  return any ? std::optional(said) : std::nullopt;
}

bool is_narrowed(const Call& call, size_t argument) {
  return is_tensor(call.arguments[argument]) &&
         call.type(argument).dtype == Dtype::kF32 &&
         call.op->reads_factor(
             call.op->parameter_of(argument, call.arguments.size()));
}

bool reads_weight(const LineWork& work, size_t argument) {
  const int weight = work.call.op->row->weight_operand;
  return !work.is_backward && weight >= 0 &&
         argument == static_cast<size_t>(weight) &&
         work.value(argument)->is_source;
}

}  // namespace gt::shard
