#include "shard/plan.h"

#include <algorithm>

#include "shard/candidates.h"
#include "shard/redistribute.h"

namespace gt {
namespace {

class Planner {
 public:
  Planner(const Cluster& cluster, const Machine& machine,
          const PlannedLine& line)
      : cluster_(cluster),
        machine_(machine),
        line_(line),
        call_(line.call),
        // A line that speaks of a block of its own is run as it stands.
        labels_(line.call.has_key("part") ? std::vector<Label>{}
                                          : index_rule(line.call)),
        candidates_(cluster, line, labels_) {}

  Plan run() {
    uses_.resize(cluster_.axes(), candidates_.none());
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      if (cluster_.count(line_.set, a) > 1) choose(a);
    }
    Plan plan = build();
    plan.alternatives = std::move(alternatives_);
    return plan;
  }

 private:
  const Type& type(size_t i) const { return call_.type(i); }

  // ---- the choice -----------------------------------------------------------

  void choose(size_t axis) {
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
      alternatives_.push_back({axis, candidates[i].what, seconds, false});
      // Equal but for rounding: the first, which holds less.
      if (i == 0 || seconds < least * (1 - 1e-9)) {
        least = seconds;
        best = i;
      }
    }
    alternatives_[first + best].chosen = true;
    uses_[axis] = candidates[best];
  }

  // ---- what a candidate takes -----------------------------------------------

  // The layout on one axis only.
  Layout on_axis(Layout layout, size_t axis, const AxisUse& use, size_t i,
                 const std::vector<LabelDim>* places, bool partial) const {
    layout.set = line_.set;
    layout.remove(axis);
    layout.partial &= ~(1U << axis);
    if (partial) layout.partial |= 1U << axis;
    if (use.label >= 0 && (*places)[i].is_there()) {
      const LabelDim& place = (*places)[i];
      layout.add(
          {static_cast<uint32_t>(axis), place.dim, use.unit * place.unit});
    }
    return layout;
  }

  double fetch(size_t axis, const AxisUse& use, size_t i) const {
    const PlannedOperand& source = line_.operands[i];
    const std::vector<LabelDim>* places =
        use.label >= 0 ? &labels_[static_cast<size_t>(use.label)].arguments
                       : nullptr;
    const bool partial = use.partial_arguments[i];
    if (source.layouts.empty()) {
      const Layout made = source.pin.value_or(Layout{line_.set, 0, {}});
      const Layout wanted = on_axis(made, axis, use, i, places, partial);
      if (partial) {
        return source.is_zero ? 0 : seconds_of(path(i, made, wanted));
      }
      const bool pinned = source.pin && (source.pin->cuts.empty() ||
                                         source.pin->cut_of(axis) != nullptr);
      return pinned ? seconds_of(path(i, made, wanted)) : 0;
    }
    double least = -1;
    for (const Layout& layout : source.layouts) {
      const Layout wanted = on_axis(layout, axis, use, i, places, partial);
      const double seconds = seconds_of(path(i, layout, wanted));
      if (least < 0 || seconds < least) least = seconds;
    }
    return least;
  }

  std::vector<Move> path(size_t i, const Layout& from, const Layout& to) const {
    return moves(cluster_, machine_, type(i), from,
                 cluster_.simplest(to, type(i).shape));
  }

  double cost(size_t axis, const AxisUse& use) const {
    double seconds = flops(call_) / machine_.flops +
                     bytes(call_) / machine_.memory_bandwidth;
    if (use.label >= 0) {
      seconds /= static_cast<double>(cluster_.count(line_.set, axis));
    }
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      if (is_tensor(call_.arguments[i])) seconds += fetch(axis, use, i);
    }
    for (size_t r = 0; r < call_.results.size(); ++r) {
      seconds += settle(axis, use, r);
      if (is_extreme(use)) {
        Layout summands{line_.set, 1U << axis, {}};
        seconds += seconds_of(moves(cluster_, machine_, call_.results[r],
                                    summands, {line_.set, 0, {}}));
      }
    }
    return seconds;
  }

  bool is_extreme(const AxisUse& use) const {
    return use.label >= 0 &&
           !labels_[static_cast<size_t>(use.label)].extreme.empty();
  }

  // What the result still costs: its sum, and the way to where it is pinned.
  double settle(size_t axis, const AxisUse& use, size_t r) const {
    const std::vector<LabelDim>* places =
        use.label >= 0 ? &labels_[static_cast<size_t>(use.label)].results
                       : nullptr;
    const Layout made = on_axis({line_.set, 0, {}}, axis, use, r, places,
                                use.partial_results[r]);
    Layout wanted = made;
    if (r == 0 && line_.pin &&
        (line_.pin->cuts.empty() || line_.pin->cut_of(axis) != nullptr)) {
      wanted.remove(axis);
      wanted.partial = 0;
      if (const AxisCut* cut = line_.pin->cut_of(axis)) wanted.add(*cut);
    } else if (!line_.keeps_summands) {
      wanted.partial = 0;
    }
    return seconds_of(
        moves(cluster_, machine_, call_.results[r], made, wanted));
  }

  // ---- the plan -------------------------------------------------------------

  // Axes that cut the label, the outer first: as an operand has them.
  std::vector<uint32_t> axes_of(size_t l) const {
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
  bool is_possible() const {
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
  Plan arranged() const {
    Plan plan;
    const Layout start{line_.set, 0, {}};
    plan.arguments.assign(call_.arguments.size(), start);
    plan.results.assign(call_.results.size(), start);
    for (size_t l = 0; l < labels_.size(); ++l) {
      const std::vector<uint32_t> axes = axes_of(l);
      if (!axes.empty()) plan.looks_up |= labels_[l].is_looked_up;
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

  Plan build() const {
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
    return plan;
  }

  void place(const std::vector<LabelDim>& places, uint32_t axis,
             std::vector<Layout>& layouts) const {
    for (size_t i = 0; i < places.size(); ++i) {
      if (!places[i].is_there()) continue;
      layouts[i].add({axis, places[i].dim, uses_[axis].unit * places[i].unit});
    }
  }

  void fetch_whole(size_t i, Plan& plan) const {
    const PlannedOperand& source = line_.operands[i];
    const Layout& wanted = plan.arguments[i];
    std::vector<Layout> layouts = source.layouts;
    if (layouts.empty() && source.pin) layouts.push_back(*source.pin);
    if (layouts.empty()) return;
    const size_t from =
        nearest_layout(cluster_, machine_, type(i), layouts, wanted);
    for (const Move& move :
         moves(cluster_, machine_, type(i), layouts[from], wanted)) {
      plan.moving += move.seconds;
      plan.bytes += move.bytes;
    }
  }

  const Cluster& cluster_;
  const Machine& machine_;
  const PlannedLine& line_;
  const Call& call_;
  std::vector<Label> labels_;
  Candidates candidates_;
  std::vector<AxisUse> uses_;
  std::vector<Alternative> alternatives_;
};

}  // namespace

size_t nearest_layout(const Cluster& cluster, const Machine& machine,
                      const Type& whole, const std::vector<Layout>& layouts,
                      const Layout& wanted) {
  size_t best = 0;
  double least = 0;
  for (size_t i = 0; i < layouts.size(); ++i) {
    const double seconds =
        seconds_of(moves(cluster, machine, whole, layouts[i], wanted));
    if (i == 0 || seconds < least) {
      least = seconds;
      best = i;
    }
  }
  return best;
}

double work_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan) {
  double moved = 0;
  double cut = 1;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const double whole = static_cast<double>(call.type(i).bytes());
    const double piece = cluster.piece_bytes(plan.arguments[i], call.type(i));
    moved += piece;
    if (whole > 0) cut = std::min(cut, piece / whole);
  }
  for (size_t r = 0; r < call.results.size(); ++r) {
    const double whole = static_cast<double>(call.results[r].bytes());
    const double piece = cluster.piece_bytes(plan.results[r], call.results[r]);
    moved += piece;
    if (whole > 0) cut = std::min(cut, piece / whole);
  }
  return flops(call) * cut / machine.flops + moved / machine.memory_bandwidth;
}

Plan plan_line(const Cluster& cluster, const Machine& machine,
               const PlannedLine& line) {
  return Planner(cluster, machine, line).run();
}

}  // namespace gt
