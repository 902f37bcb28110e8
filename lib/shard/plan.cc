#include "shard/planner.h"

#include <algorithm>

#include "ops/shape_rules.h"
#include "spmd/redistribution.h"

namespace gt::shard {

Planner::Planner(const Cluster& cluster, const Machine& machine,
                 const PlannedLine& line)
    : cluster_(cluster),
      machine_(machine),
      line_(line),
      call_(line.call),
      // A line that speaks of a block of its own is run as it stands.
      labels_(line.call.has_key("part") ? std::vector<Label>{}
                                        : index_rule(line.call)),
      candidates_(cluster, line, labels_) {}

Plan Planner::run() {
  uses_.resize(cluster_.axes(), candidates_.none());
  for (size_t a = 0; a < cluster_.axes(); ++a) {
    if (cluster_.count(line_.set, a) > 1) choose(a);
  }
  choose_together();
  Plan plan = build();
  plan.alternatives = std::move(alternatives_);
  return plan;
}

void Planner::choose(size_t axis) {
  std::vector<AxisUse> candidates = candidates_.of(axis);
  std::erase_if(candidates, [&](const AxisUse& use) {
    uses_[axis] = use;
    return !is_possible();
  });
  size_t best = 0;
  double least = 0;
  const size_t first = alternatives_.size();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double seconds = cost(axis, candidates[i]);
    alternatives_.push_back(
        {cluster_.axis_name(axis), candidates[i].what, seconds, false});
    // Equal but for rounding: the first, which holds less.
    if (i == 0 || seconds < least * (1 - 1e-9)) {
      least = seconds;
      best = i;
    }
  }
  alternatives_[first + best].chosen = true;
  uses_[axis] = candidates[best];
}

// Axes that cut the label, the outer first: as an operand has them.
std::vector<uint32_t> Planner::axes_of(size_t l) const {
  std::vector<uint32_t> axes;
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (uses_[a].label == static_cast<int>(l)) {
      axes.push_back(static_cast<uint32_t>(a));
    }
  }
  if (axes.size() < 2) return axes;
  for (size_t i = 0; i < call_.arguments.size(); ++i) {
    if (!labels_[l].arguments[i].is_there()) continue;
    const PlannedOperand& source = line_.operands[i];
    std::vector<const Layout*> known;
    for (const Layout& layout : source.layouts) known.push_back(&layout);
    if (source.pin) known.push_back(&*source.pin);
    if (source.offer) known.push_back(&*source.offer);
    for (const Layout* layout : known) {
      std::vector<uint32_t> order;
      for (const AxisCut& cut : layout->cuts) {
        const bool ours =
            std::find(axes.begin(), axes.end(), cut.axis) != axes.end();
        if (ours && cut.dim == labels_[l].arguments[i].dim) {
          order.push_back(cut.axis);
        }
      }
      if (order.size() == axes.size()) return order;
    }
  }
  return axes;
}

// Units divide what axes further out leave.
bool Planner::is_possible() const {
  for (size_t l = 0; l < labels_.size(); ++l) {
    if (!labels_[l].is_never_empty) continue;
    int64_t parts = 1;
    for (size_t a = 0; a < uses_.size(); ++a) {
      if (uses_[a].label != static_cast<int>(l)) continue;
      parts *= cluster_.count(line_.set, a) * uses_[a].unit;
    }
    if (parts > 1 && parts > labels_[l].size) return false;
  }
  const Plan plan = arranged();
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    if (is_tensor(call_.arguments[i]) &&
        !cluster_.can_cut(plan.arguments[i], type(i).shape)) {
      return false;
    }
  }
  for (size_t r = 0; r < plan.results.size(); ++r) {
    if (!cluster_.can_cut(plan.results[r], call_.results[r].shape)) {
      return false;
    }
  }
  return true;
}

// Layouts as the axes' uses say, units as they come.
Plan Planner::arranged() const {
  Plan plan;
  const Layout start{line_.set, 0, {}};
  plan.arguments.assign(call_.arguments.size(), start);
  plan.results.assign(call_.results.size(), start);
  for (size_t l = 0; l < labels_.size(); ++l) {
    const std::vector<uint32_t> axes = axes_of(l);
    if (!axes.empty()) plan.needs_split |= labels_[l].needs_split;
    for (const uint32_t axis : axes) {
      place(labels_[l].arguments, axis, plan.arguments);
      place(labels_[l].results, axis, plan.results);
    }
  }
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (is_extreme(uses_[a])) {
      plan.extremes.emplace_back(
          a, labels_[static_cast<size_t>(uses_[a].label)].extreme);
    }
    for (size_t i = 0; i < plan.arguments.size(); ++i) {
      if (uses_[a].partial_arguments[i]) plan.arguments[i].partial |= 1U << a;
    }
    for (size_t r = 0; r < plan.results.size(); ++r) {
      if (uses_[a].partial_results[r]) plan.results[r].partial |= 1U << a;
    }
  }
  return plan;
}

Plan Planner::build() const {
  Plan plan = arranged();
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    if (!is_tensor(call_.arguments[i])) continue;
    plan.arguments[i] = cluster_.simplest(plan.arguments[i], type(i).shape);
    fetch_whole(i, plan);
  }
  for (size_t r = 0; r < plan.results.size(); ++r) {
    plan.results[r] =
        cluster_.simplest(plan.results[r], call_.results[r].shape);
  }
  plan.sums_halves = sums_halves();
  return plan;
}

void Planner::place(const std::vector<LabelDim>& places, uint32_t axis,
                    std::vector<Layout>& layouts) const {
  for (size_t i = 0; i < places.size(); ++i) {
    if (!places[i].is_there()) continue;
    layouts[i].add({axis, places[i].dim, uses_[axis].unit * places[i].unit});
  }
}

void Planner::fetch_whole(size_t i, Plan& plan) const {
  const PlannedOperand& source = line_.operands[i];
  const Layout& wanted = plan.arguments[i];
  std::vector<Layout> layouts = source.layouts;
  if (layouts.empty() && source.pin) layouts.push_back(*source.pin);
  if (layouts.empty()) return;
  const Way way = nearest(cluster_, machine_, type(i), layouts, wanted);
  for (const Move& move : way.moves) {
    plan.moving += move.seconds;
    plan.bytes += move.bytes;
  }
}

// Parts of a sum may lie beyond what f16 holds where the sum does not, and each
// would be rounded. What is looked up is added to zeros, which rounds nothing.
bool Planner::sums_halves() const {
  if (line_.keeps_summands) return false;
  for (const AxisUse& use : uses_) {
    if (use.label < 0) continue;
    if (labels_[static_cast<size_t>(use.label)].is_looked_up) continue;
    for (size_t r = 0; r < call_.results.size(); ++r) {
      const Dtype dtype = call_.results[r].dtype;
      if (use.partial_results[r] && is_float(dtype) &&
          wide_dtype(dtype) != dtype) {
        return true;
      }
    }
  }
  return false;
}

Plan plan_line(const Cluster& cluster, const Machine& machine,
               const PlannedLine& line) {
  return Planner(cluster, machine, line).run();
}

}  // namespace gt::shard
