#include "shard/plan.h"

#include <algorithm>

#include "ops/table.h"
#include "shard/planner.h"

namespace gt::shard {

Type moved_type(Type type, const std::optional<Dtype>& sum_dtype,
                const Layout& from, const Layout& to) {
  const bool sums = (from.partial & ~to.partial) != 0 && from.set == to.set;
  if (sums && sum_dtype) type.dtype = *sum_dtype;
  return type;
}

Plan plan_line(const Cluster& cluster, const Machine& machine,
               const PlannedLine& line) {
  return Planner(cluster, machine, line).run();
}

double work_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan) {
  if (call.op->row->alias) return 0;  // bytes() is 0, too
  double moved = 0;
  double cut = 1;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const double whole = static_cast<double>(call.type(i).bytes());
    if (whole == 0) continue;
    const double part =
        cluster.piece_bytes(plan.arguments[i], call.type(i)) / whole;
    moved += part * bytes_read(call, i);
    cut = std::min(cut, part);
  }
  for (size_t r = 0; r < call.results.size(); ++r) {
    const double whole = static_cast<double>(call.results[r].bytes());
    const double piece = cluster.piece_bytes(plan.results[r], call.results[r]);
    moved += piece;
    if (whole > 0) cut = std::min(cut, piece / whole);
  }
  return compute_seconds(machine, flops(call) * cut, moved);
}

}  // namespace gt::shard
