#include "shard/plan_cache.h"

namespace gt::shard {

// Appends everything in a line that its plan depends on. That is not the names
// of its operands, but what is known about the values that they hold.
void PlanKey::append(const PlannedLine& line) {
  const Call& call = line.call;
  add(call.op->name, call.key_values, line.set, line.pin, line.keeps_summands,
      line.sum_dtype, call.result_count, call.arguments.size());
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    append(is_tensor(a));
    if (is_tensor(a)) {
      add(a.type, line.operands[i]);
    } else {
      append(a.text);
    }
  }
}

}  // namespace gt::shard
