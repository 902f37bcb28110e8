#include "shard/plan.h"

#include <algorithm>
#include <numeric>

#include "shard/redistribute.h"
#include "spmd/join.h"

namespace gt {
namespace {

// What an axis does in a line: cuts a label, or nothing; and which arguments
// and results are summands on it.
struct AxisUse {
  int label = -1;
  int64_t unit = 1;  // coordinates of the label that stay together
  std::vector<bool> partial_arguments;
  std::vector<bool> partial_results;
  std::string what;
};

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
                                          : index_rule(line.call)) {}

  Plan run() {
    uses_.resize(cluster_.axes(), none());
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      if (cluster_.count(line_.set, a) > 1) choose(a);
    }
    Plan plan = build();
    plan.alternatives = std::move(alternatives_);
    return plan;
  }

 private:
  AxisUse none() const {
    AxisUse use;
    use.partial_arguments.assign(call_.arguments.size(), false);
    use.partial_results.assign(call_.results.size(), false);
    use.what = "whole";
    return use;
  }

  const Type& type(size_t i) const { return call_.type(i); }

  // ---- candidates -----------------------------------------------------------

  void choose(size_t axis) {
    std::vector<AxisUse> candidates;
    for (size_t l = 0; l < labels_.size(); ++l) cut_label(axis, l, candidates);
    keep_summands(axis, candidates);
    candidates.push_back(none());
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

  // The unit of the label at which the layout cuts this place; 0: elsewhere.
  int64_t unit_at(const Layout& layout, size_t axis, const LabelDim& place,
                  const Shape& shape) const {
    const AxisCut* cut = layout.cut_of(axis);
    if (cut == nullptr || cut->dim != place.dim) return 0;
    if (cut->unit % place.unit == 0) return cut->unit / place.unit;
    const int64_t unit = std::lcm(cut->unit, place.unit);
    Layout coarse = layout;
    for (AxisCut& c : coarse.cuts) {
      if (c.axis == axis) c.unit = unit;
    }
    const int64_t size = shape[static_cast<size_t>(place.dim)];
    if (size % unit != 0 ||
        !cluster_.is_same_cut(layout, coarse, place.dim, size)) {
      return 0;
    }
    return unit / place.unit;
  }

  // A shard comes from an operand or from the config; it never appears.
  int64_t wanted_unit(size_t axis, const Label& label) const {
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      if (!label.arguments[i].is_there()) continue;
      const PlannedOperand& source = line_.operands[i];
      for (const Layout& layout : source.layouts) {
        const int64_t unit =
            unit_at(layout, axis, label.arguments[i], type(i).shape);
        if (unit > 0) return unit;
      }
      if (!source.layouts.empty() || !source.pin) continue;
      const int64_t unit =
          unit_at(*source.pin, axis, label.arguments[i], type(i).shape);
      if (unit > 0) return unit;
    }
    if (line_.pin && label.results[0].is_there()) {
      return unit_at(*line_.pin, axis, label.results[0],
                     call_.results[0].shape);
    }
    return 0;
  }

  void cut_label(size_t axis, size_t l, std::vector<AxisUse>& out) const {
    const Label& label = labels_[l];
    if (label.results.empty()) return;
    if (label.is_looked_up && call_.op->key_index("split") < 0) return;
    AxisUse use = none();
    use.unit = wanted_unit(axis, label);
    if (use.unit == 0) return;
    use.label = static_cast<int>(l);
    const int64_t parts = cluster_.count(line_.set, axis);
    if (label.is_never_empty && label.size / use.unit < parts) return;
    for (size_t r = 0; r < label.results.size(); ++r) {
      if (label.results[r].is_there() || !label.extreme.empty()) continue;
      if (!label.is_summed || call_.results[r].dtype == Dtype::kBool) return;
      use.partial_results[r] = true;
    }
    for (size_t i = 0; i < label.added.size(); ++i) {
      use.partial_arguments[i] = label.added[i];
    }
    use.what = describe(label);
    out.push_back(std::move(use));
  }

  // "x.0 w.1 cut"
  std::string describe(const Label& label) const {
    std::string out;
    for (size_t i = 0; i < label.arguments.size(); ++i) {
      if (!label.arguments[i].is_there()) continue;
      out += std::string(call_.arguments[i].name) + "." +
             std::to_string(label.arguments[i].dim) + " ";
    }
    if (out.empty() && !label.results.empty()) {
      out = "result." + std::to_string(label.results[0].dim) + " ";
    }
    return out + (label.is_summed ? "cut, summed" : "cut");
  }

  bool has_summands(size_t axis, size_t i) const {
    const PlannedOperand& source = line_.operands[i];
    return std::any_of(
        source.layouts.begin(), source.layouts.end(),
        [&](const Layout& layout) { return layout.is_partial(axis); });
  }

  // Ways in which sums stay owed: what the op is linear in are summands.
  void keep_summands(size_t axis, std::vector<AxisUse>& out) const {
    bool any = false;
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      any |= is_tensor(call_.arguments[i]) && has_summands(axis, i);
    }
    if (!any) return;
    const std::vector<std::string_view> sets = linear_sets(*call_.op);
    if (sets.empty()) try_summands(axis, std::nullopt, out);
    for (const std::string_view set : sets) try_summands(axis, set, out);
  }

  void try_summands(size_t axis, std::optional<std::string_view> set,
                    std::vector<AxisUse>& out) const {
    AxisUse use = none();
    std::vector<char> letters;
    bool any = false;
    const size_t n = call_.arguments.size();
    for (size_t i = 0; i < n; ++i) {
      const Argument& a = call_.arguments[i];
      if (a.role == Role::kTensor && a.literal) {
        letters.push_back(a.number.real != 0 ? kLiteralLetter : kNoLetter);
        continue;
      }
      if (!is_tensor(a)) {
        letters.push_back(kNoLetter);
        continue;
      }
      const char parameter =
          static_cast<char>('0' + call_.op->parameter_of(i, n));
      const bool summands =
          set ? set->find(parameter) != set->npos : has_summands(axis, i);
      use.partial_arguments[i] = summands;
      any |= summands && has_summands(axis, i);
      letters.push_back(summands ? 'P' : 'R');
    }
    if (!any || join(call_, letters).letter != 'P') return;
    use.partial_results.assign(call_.results.size(), true);
    use.what = "summands";
    out.push_back(std::move(use));
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
