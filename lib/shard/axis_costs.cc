#include "shard/axis_costs.h"

#include <algorithm>

#include "ops/shape_rules.h"

namespace gt::shard {

// Returns the layout after changing only this axis: it then does what the use
// says for tensor i.
Layout AxisCosts::on_axis(Layout layout, size_t axis, const AxisUse& use,
                          size_t i, const std::vector<LabelDim>* places,
                          bool partial) const {
  layout.set = in_.line.set;
  layout.partial &= ~(1U << axis);
  if (partial) layout.partial |= 1U << axis;
  if (use.label < 0 || !(*places)[i].is_there()) {
    layout.remove(axis);
    return layout;
  }
  const AxisCut cut{static_cast<uint32_t>(axis), (*places)[i].dim,
                    use.unit * (*places)[i].unit};
  const auto there = std::find_if(
      layout.cuts.begin(), layout.cuts.end(),
      [&](const AxisCut& c) { return c.axis == cut.axis && c.dim == cut.dim; });
  if (there != layout.cuts.end()) {
    *there = cut;  // it keeps its place among the cuts
  } else {
    layout.remove(axis);
    layout.add(cut);
  }
  return layout;
}

double AxisCosts::fetch(size_t axis, const AxisUse& use, size_t i) const {
  const PlannedOperand& source = in_.line.operands[i];
  const std::vector<LabelDim>* places =
      use.label >= 0 ? &in_.labels[static_cast<size_t>(use.label)].arguments
                     : nullptr;
  const bool partial = use.partial_arguments[i];
  if (source.layouts.empty()) {
    const Layout made = source.pin.value_or(Layout{in_.line.set, 0, {}});
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

std::vector<Move> AxisCosts::path(size_t i, const Layout& from,
                                  const Layout& to) const {
  const Type& type = in_.call.type(i);
  return redistribution(
      in_.cluster, in_.machine,
      moved_type(type, in_.line.operands[i].sum_dtype, from, to), from,
      in_.cluster.simplest(to, type.shape));
}

// Returns the seconds that the line itself takes. Tensors that lack the label
// that is cut are whole on each rank.
double AxisCosts::work(size_t axis, const AxisUse& use) const {
  const double parts =
      use.label < 0
          ? 1
          : static_cast<double>(in_.cluster.count(in_.line.set, axis));
  const auto share = [&](const Type& whole, std::vector<LabelDim> Label::*of,
                         size_t i) {
    const bool is_cut =
        use.label >= 0 &&
        (in_.labels[static_cast<size_t>(use.label)].*of)[i].is_there();
    return static_cast<double>(whole.bytes()) / (is_cut ? parts : 1);
  };
  double moved = 0;
  for (size_t i = 0; i < in_.call.arguments.size(); ++i) {
    if (!is_tensor(in_.call.arguments[i])) continue;
    moved += share(in_.call.type(i), &Label::arguments, i);
  }
  for (size_t r = 0; r < in_.call.results.size(); ++r) {
    moved += share(in_.call.results[r], &Label::results, r);
  }
  return busy_seconds(in_.machine, in_.call, flops_ / parts, moved);
}

double AxisCosts::seconds(size_t axis, const AxisUse& use) const {
  double seconds = work(axis, use);
  for (size_t i = 0; i < in_.call.arguments.size(); ++i) {
    if (is_tensor(in_.call.arguments[i])) seconds += fetch(axis, use, i);
  }
  for (size_t r = 0; r < in_.call.results.size(); ++r) {
    seconds += settle(axis, use, r);
  }
  return seconds + extreme_seconds(axis, use);
}

// One all_reduce finds it, as it does for a sum.
double AxisCosts::extreme_seconds(size_t axis, const AxisUse& use) const {
  const std::string_view what = extreme_of(use, in_.labels);
  if (what.empty()) return 0;
  const Layout whole{in_.line.set, 0, {}};
  double seconds = 0;
  for (const Type& type : in_.call.results) {
    seconds +=
        extreme(in_.cluster, in_.machine, type, whole, axis, what).seconds;
  }
  return seconds;
}

// Returns the seconds that result r still takes after the line: for its sum,
// and for the moves to the layout that the pin says.
double AxisCosts::settle(size_t axis, const AxisUse& use, size_t r) const {
  const std::vector<LabelDim>* places =
      use.label >= 0 ? &in_.labels[static_cast<size_t>(use.label)].results
                     : nullptr;
  const Layout made = on_axis({in_.line.set, 0, {}}, axis, use, r, places,
                              use.partial_results[r]);
  Layout wanted = made;
  if (r == 0 && in_.line.pin &&
      (in_.line.pin->cuts.empty() || in_.line.pin->cut_of(axis) != nullptr)) {
    wanted.remove(axis);
    wanted.partial = 0;
    if (const AxisCut* cut = in_.line.pin->cut_of(axis)) wanted.add(*cut);
  } else if (!in_.line.keeps_summands) {
    wanted.partial = 0;
  }
  return seconds_of(redistribution(
      in_.cluster, in_.machine,
      moved_type(in_.call.results[r], in_.line.sum_dtype, made, wanted), made,
      wanted));
}

}  // namespace gt::shard
