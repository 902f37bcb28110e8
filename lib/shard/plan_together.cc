// Axes that cut one dimension, chosen together.
#include "shard/planner.h"

#include <algorithm>

#include "spmd/redistribution.h"

namespace gt::shard {

// Axis by axis, each is charged what moving the others takes. Where several
// cut one dimension, all of them on one label are tried, too.
void Planner::choose_together() {
  if (!is_cut_twice()) return;
  const std::vector<AxisUse> each = uses_;
  std::vector<AxisUse> best = each;
  const double apart = seconds_together();
  double least = apart;
  for (size_t l = 0; l < labels_.size(); ++l) {
    uses_ = each;
    if (!cut_by_all(l) || !is_possible()) continue;
    const double seconds = seconds_together();
    if (seconds >= least * (1 - 1e-9)) continue;
    least = seconds;
    best = uses_;
  }
  uses_ = best;
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
  bool any = line_.pin && twice(*line_.pin);
  for (const PlannedOperand& source : line_.operands) {
    any |= std::any_of(source.layouts.begin(), source.layouts.end(), twice) ||
           (source.pin && twice(*source.pin)) ||
           (source.offer && twice(*source.offer));
  }
  return any;
}

// Every axis that may cuts the label; false of fewer than two.
bool Planner::cut_by_all(size_t l) {
  size_t axes = 0;
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (cluster_.count(line_.set, a) == 1) continue;
    for (AxisUse& use : candidates_.of(a)) {
      if (use.label != static_cast<int>(l)) continue;
      uses_[a] = std::move(use);
      ++axes;
      break;
    }
  }
  return axes > 1;
}

// All that the line takes as the axes are used: an estimate of the plan.
double Planner::seconds_together() const {
  const Plan plan = build();
  double seconds = plan.moving + work_seconds(cluster_, machine_, call_, plan);
  for (size_t a = 0; a < uses_.size(); ++a) {
    seconds += extreme_seconds(a, uses_[a]);
  }
  for (size_t r = 0; r < plan.results.size(); ++r) {
    const Layout& made = plan.results[r];
    seconds += seconds_of(redistribution(cluster_, machine_, summed_type(r),
                                         made, settled(made, r)));
  }
  return seconds;
}

// Where a result made so is wanted: as it is pinned, its sums made.
Layout Planner::settled(Layout made, size_t r) const {
  if (!line_.keeps_summands) made.partial = 0;
  if (r != 0 || !line_.pin) return made;
  if (line_.pin->cuts.empty()) return {made.set, 0, {}};
  for (const AxisCut& cut : line_.pin->cuts) {
    made.partial &= ~(1U << cut.axis);
    made.remove(cut.axis);
  }
  for (const AxisCut& cut : line_.pin->cuts) made.add(cut);
  return made;
}

void Planner::tell_together(const std::vector<AxisUse>& each, double apart,
                            double together) {
  std::string axes, what;
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (uses_[a].label == each[a].label) continue;
    what = uses_[a].what;
    for (Alternative& alternative : alternatives_) {
      if (alternative.axes == cluster_.axis_name(a)) {
        alternative.chosen = false;
      }
    }
  }
  for (size_t a = 0; a < uses_.size(); ++a) {
    if (uses_[a].label < 0 || uses_[a].what != what) continue;
    axes += (axes.empty() ? "" : "+") + cluster_.axis_name(a);
  }
  alternatives_.push_back({axes, "each by itself", apart, false});
  alternatives_.push_back({axes, what, together, true});
}

}  // namespace gt::shard
