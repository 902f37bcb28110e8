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

std::vector<Plan> other_plans(const Cluster& cluster, const Machine& machine,
                              const PlannedLine& line) {
  return Planner(cluster, machine, line).others();
}

double busy_seconds(const Machine& machine, const Call& call, double flops,
                    double bytes) {
  if (!call.op->is_product()) return compute_seconds(machine, flops, bytes);
  return std::max(compute_seconds(machine, flops, 0),
                  compute_seconds(machine, 0, bytes));
}

namespace {

// The operations of a call on a rank, and the bytes that it reads and writes.
struct Work {
  double flops = 0;
  double bytes = 0;
};

Work work_of(const Cluster& cluster, const Call& call, const Plan& plan) {
  if (call.op->row->alias) return {};  // bytes() is 0, too
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
  return {flops(call) * cut, moved};
}

}  // namespace

double work_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan) {
  const Work work = work_of(cluster, call, plan);
  return compute_seconds(machine, work.flops, work.bytes);
}

double busy_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan) {
  const Work work = work_of(cluster, call, plan);
  return busy_seconds(machine, call, work.flops, work.bytes);
}

}  // namespace gt::shard
