#include "shard/plan_builder.h"

#include <algorithm>

#include "ops/shape_rules.h"
#include "spmd/redistribution.h"

namespace gt::shard {
namespace {

// Cuts a label over the axis in the layout of each tensor that has the label.
void cut_label(uint32_t axis, int64_t unit, const std::vector<LabelDim>& places,
               std::vector<Layout>& layouts) {
  for (size_t i = 0; i < places.size(); ++i) {
    if (!places[i].is_there()) continue;
    layouts[i].add({axis, places[i].dim, unit * places[i].unit});
  }
}

}  // namespace

// Returns the axes that cut the label, the outer ones first. If an operand is
// cut by all of them, their order is taken from it.
std::vector<uint32_t> PlanBuilder::axes_of(const AxisUses& uses,
                                           size_t l) const {
  std::vector<uint32_t> axes;
  for (size_t a = 0; a < uses.size(); ++a) {
    if (uses[a].label == static_cast<int>(l)) {
      axes.push_back(static_cast<uint32_t>(a));
    }
  }
  if (axes.size() < 2) return axes;
  for (size_t i = 0; i < in_.call.arguments.size(); ++i) {
    if (!in_.labels[l].arguments[i].is_there()) continue;
    const PlannedOperand& source = in_.line.operands[i];
    std::vector<const Layout*> known;
    for (const Layout& layout : source.layouts) known.push_back(&layout);
    if (source.pin) known.push_back(&*source.pin);
    if (source.offer) known.push_back(&*source.offer);
    for (const Layout* layout : known) {
      std::vector<uint32_t> order;
      for (const AxisCut& cut : layout->cuts) {
        const bool ours =
            std::find(axes.begin(), axes.end(), cut.axis) != axes.end();
        if (ours && cut.dim == in_.labels[l].arguments[i].dim) {
          order.push_back(cut.axis);
        }
      }
      if (order.size() == axes.size()) return order;
    }
  }
  return axes;
}

// The unit of an axis must divide what the axes further out leave to a rank.
bool PlanBuilder::is_possible(const AxisUses& uses) const {
  for (size_t l = 0; l < in_.labels.size(); ++l) {
    if (!in_.labels[l].is_never_empty) continue;
    int64_t parts = 1;
    for (size_t a = 0; a < uses.size(); ++a) {
      if (uses[a].label != static_cast<int>(l)) continue;
      parts *= in_.cluster.count(in_.line.set, a) * uses[a].unit;
    }
    if (parts > 1 && parts > in_.labels[l].size) return false;
  }
  const Plan plan = arranged(uses);
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    if (is_tensor(in_.call.arguments[i]) &&
        !in_.cluster.can_cut(plan.arguments[i], in_.call.type(i).shape)) {
      return false;
    }
  }
  for (size_t r = 0; r < plan.results.size(); ++r) {
    if (!in_.cluster.can_cut(plan.results[r], in_.call.results[r].shape)) {
      return false;
    }
  }
  return true;
}

// Returns a plan with the layouts that the uses of the axes require. Whether
// their units divide the sizes is not checked.
Plan PlanBuilder::arranged(const AxisUses& uses) const {
  Plan plan;
  const Layout start{in_.line.set, 0, {}};
  plan.arguments.assign(in_.call.arguments.size(), start);
  plan.results.assign(in_.call.results.size(), start);
  for (size_t l = 0; l < in_.labels.size(); ++l) {
    const std::vector<uint32_t> axes = axes_of(uses, l);
    if (!axes.empty()) plan.needs_split |= in_.labels[l].needs_split;
    for (const uint32_t axis : axes) {
      cut_label(axis, uses[axis].unit, in_.labels[l].arguments, plan.arguments);
      cut_label(axis, uses[axis].unit, in_.labels[l].results, plan.results);
    }
  }
  for (size_t a = 0; a < uses.size(); ++a) {
    const std::string_view extreme = extreme_of(uses[a], in_.labels);
    if (!extreme.empty()) plan.extremes.emplace_back(a, extreme);
    for (size_t i = 0; i < plan.arguments.size(); ++i) {
      if (uses[a].partial_arguments[i]) plan.arguments[i].partial |= 1U << a;
    }
    for (size_t r = 0; r < plan.results.size(); ++r) {
      if (uses[a].partial_results[r]) plan.results[r].partial |= 1U << a;
    }
  }
  return plan;
}

Plan PlanBuilder::build(const AxisUses& uses) const {
  Plan plan = arranged(uses);
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    if (!is_tensor(in_.call.arguments[i])) continue;
    plan.arguments[i] =
        in_.cluster.simplest(plan.arguments[i], in_.call.type(i).shape);
    fetch_whole(i, plan);
  }
  for (size_t r = 0; r < plan.results.size(); ++r) {
    plan.results[r] =
        in_.cluster.simplest(plan.results[r], in_.call.results[r].shape);
  }
  plan.sums_halves = sums_halves(uses);
  return plan;
}

void PlanBuilder::fetch_whole(size_t i, Plan& plan) const {
  const PlannedOperand& source = in_.line.operands[i];
  const Layout& wanted = plan.arguments[i];
  std::vector<Layout> layouts = source.layouts;
  if (layouts.empty() && source.pin) layouts.push_back(*source.pin);
  if (layouts.empty()) return;
  const Type& type = in_.call.type(i);
  const Way way = nearest(in_.cluster, in_.machine, type, layouts, wanted);
  const Layout& from = layouts[way.from];
  const Type moved = moved_type(type, source.sum_dtype, from, wanted);
  const std::vector<Move> moves =
      moved == type
          ? way.moves
          : redistribution(in_.cluster, in_.machine, moved, from, wanted);
  for (const Move& move : moves) {
    plan.moving += move.seconds;
    plan.bytes += move.bytes;
  }
}

// Returns true if the line sums f16 or bf16 over ranks. Then the parts of the
// sum may be out of range for f16 although the sum is not, and each would be
// rounded. A lookup in a cut table is excepted: it is added to zeros, which
// rounds nothing. So are gradients of microbatches, which are added up first,
// and sums that the config wants in this dtype.
bool PlanBuilder::sums_halves(const AxisUses& uses) const {
  if (in_.line.keeps_summands && in_.line.is_backward) return false;
  for (const AxisUse& use : uses) {
    if (use.label < 0) continue;
    if (in_.labels[static_cast<size_t>(use.label)].is_looked_up) continue;
    for (size_t r = 0; r < in_.call.results.size(); ++r) {
      const Dtype dtype = in_.call.results[r].dtype;
      if (use.partial_results[r] && is_half(dtype) &&
          in_.line.sum_dtype != dtype) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace gt::shard
