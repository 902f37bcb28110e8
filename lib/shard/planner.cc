#include "shard/planner.h"

#include <algorithm>

#include "ops/shape_rules.h"
#include "spmd/redistribution.h"

namespace gt::shard {
namespace {

// Returns the type in which a sum of parts is taken: f32 for f16 and bf16,
// unless the config says otherwise.
Type summed_type(Type type, const std::optional<Dtype>& sum_dtype) {
  if (is_float(type.dtype)) type.dtype = wide_dtype(type.dtype);
  if (sum_dtype) type.dtype = *sum_dtype;
  return type;
}

}  // namespace

Planner::Planner(const Cluster& cluster, const Machine& machine,
                 const PlannedLine& line)
    : in_{cluster, machine, line, line.call,
          // A line with part= speaks of one block of its own. It has no labels,
          // so no axis cuts anything.
          line.call.has_key("part") ? std::vector<Label>{}
                                    : index_rule(line.call)},
      candidates_(in_),
      costs_(in_),
      builder_(in_) {}

Plan Planner::run() {
  uses_.resize(in_.cluster.axes(), candidates_.none());
  for (size_t a = 0; a < in_.cluster.axes(); ++a) {
    if (in_.cluster.count(in_.line.set, a) > 1) choose(a);
  }
  choose_together();
  Plan plan = made(uses_);
  plan.alternatives = alternatives_;
  return plan;
}

std::vector<Plan> Planner::others() {
  const Plan chosen = run();
  std::vector<Plan> out;
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (in_.cluster.count(in_.line.set, a) == 1) continue;
    const AxisUse use = uses_[a];
    for (AxisUse& way : ways(a)) {
      uses_[a] = std::move(way);
      Plan plan = made(uses_);
      if (plan.arguments == chosen.arguments) continue;
      plan.alternatives = chosen.alternatives;
      for (Alternative& alternative : plan.alternatives) {
        if (alternative.axes != in_.cluster.axis_name(a)) continue;
        alternative.chosen = alternative.what == uses_[a].what;
      }
      out.push_back(std::move(plan));
    }
    uses_[a] = use;
  }
  return out;
}

Plan Planner::made(const AxisUses& uses) const {
  Plan plan = builder_.build(uses);
  plan.seconds = seconds_of(plan, uses);
  return plan;
}

// Returns the ways to use the axis that are legal beside what the other axes
// do.
std::vector<AxisUse> Planner::ways(size_t axis) {
  std::vector<AxisUse> candidates = candidates_.of(axis);
  std::erase_if(candidates, [&](const AxisUse& use) {
    uses_[axis] = use;
    return !builder_.is_possible(uses_);
  });
  return candidates;
}

void Planner::choose(size_t axis) {
  std::vector<AxisUse> candidates = ways(axis);
  size_t best = 0;
  double least = 0;
  const size_t first = alternatives_.size();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double seconds = costs_.seconds(axis, candidates[i]);
    alternatives_.push_back(
        {in_.cluster.axis_name(axis), candidates[i].what, seconds, false});
    // Of ways with equal costs, apart from rounding errors, the first one is
    // chosen, since it takes less memory.
    if (i == 0 || seconds < least * (1 - 1e-9)) {
      least = seconds;
      best = i;
    }
  }
  alternatives_[first + best].chosen = true;
  uses_[axis] = candidates[best];
}

// ---- axes that cut one dimension, chosen together -------------------------

// When axes are chosen one by one, each is charged with moving the others as
// well. So if several axes cut one dimension, it is also tried to let all of
// them cut the same label.
void Planner::choose_together() {
  if (!is_cut_twice()) return;
  const AxisUses each = uses_;
  const double apart = made(each).seconds;
  double least = apart;
  for (size_t l = 0; l < in_.labels.size(); ++l) {
    AxisUses all = each;
    if (!cut_by_all(l, all) || !builder_.is_possible(all)) continue;
    const double seconds = made(all).seconds;
    if (seconds >= least * (1 - 1e-9)) continue;
    least = seconds;
    uses_ = std::move(all);
  }
  if (least < apart) tell_together(each, apart, least);
}

bool Planner::is_cut_twice() const {
  const auto twice = [](const Layout& layout) {
    const auto same = [](const AxisCut& a, const AxisCut& b) {
      return a.dim == b.dim;
    };
    return std::adjacent_find(layout.cuts.begin(), layout.cuts.end(), same) !=
           layout.cuts.end();
  };
  bool any = in_.line.pin && twice(*in_.line.pin);
  for (const PlannedOperand& source : in_.line.operands) {
    any |= std::any_of(source.layouts.begin(), source.layouts.end(), twice) ||
           (source.pin && twice(*source.pin)) ||
           (source.offer && twice(*source.offer));
  }
  return any;
}

// Lets each axis that can cut the label do so. Returns false if these are fewer
// than two.
bool Planner::cut_by_all(size_t l, AxisUses& uses) const {
  size_t axes = 0;
  for (size_t a = 0; a < uses.size(); ++a) {
    if (in_.cluster.count(in_.line.set, a) == 1) continue;
    for (AxisUse& use : candidates_.of(a)) {
      if (use.label != static_cast<int>(l)) continue;
      uses[a] = std::move(use);
      ++axes;
      break;
    }
  }
  return axes > 1;
}

// Estimates the seconds that the line takes in all when the axes are used in
// this way.
double Planner::seconds_of(const Plan& plan, const AxisUses& uses) const {
  double seconds =
      plan.moving + busy_seconds(in_.cluster, in_.machine, in_.call, plan);
  for (size_t a = 0; a < uses.size(); ++a) {
    seconds += costs_.extreme_seconds(a, uses[a]);
  }
  for (size_t r = 0; r < plan.results.size(); ++r) {
    const Layout& made = plan.results[r];
    seconds += gt::seconds_of(
        redistribution(in_.cluster, in_.machine,
                       summed_type(in_.call.results[r], in_.line.sum_dtype),
                       made, settled(made, r)));
  }
  return seconds;
}

// Returns the layout that result r must finally have if the line makes it in
// the layout `made`: it is cut as the pin says, and its sums are taken.
Layout Planner::settled(Layout made, size_t r) const {
  if (!in_.line.keeps_summands) made.partial = 0;
  if (r != 0 || !in_.line.pin) return made;
  if (in_.line.pin->cuts.empty()) return {made.set, 0, {}};
  for (const AxisCut& cut : in_.line.pin->cuts) {
    made.partial &= ~(1U << cut.axis);
    made.remove(cut.axis);
  }
  for (const AxisCut& cut : in_.line.pin->cuts) made.add(cut);
  return made;
}

void Planner::tell_together(const AxisUses& each, double apart,
                            double together) {
  std::string axes, what;
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (uses_[a].label == each[a].label) continue;
    what = uses_[a].what;
    for (Alternative& alternative : alternatives_) {
      if (alternative.axes == in_.cluster.axis_name(a)) {
        alternative.chosen = false;
      }
    }
  }
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (uses_[a].label < 0 || uses_[a].what != what) continue;
    axes += (axes.empty() ? "" : "+") + in_.cluster.axis_name(a);
  }
  alternatives_.push_back({axes, "each by itself", apart, false});
  alternatives_.push_back({axes, what, together, true});
}

}  // namespace gt::shard
