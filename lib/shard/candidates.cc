#include "shard/candidates.h"

#include <algorithm>
#include <numeric>

#include "spmd/join.h"

namespace gt::shard {

std::string_view extreme_of(const AxisUse& use,
                            const std::vector<Label>& labels) {
  if (use.label < 0) return {};
  return labels[static_cast<size_t>(use.label)].extreme;
}

std::vector<AxisUse> Candidates::of(size_t axis) const {
  std::vector<AxisUse> out;
  for (size_t l = 0; l < in_.labels.size(); ++l) cut_label(axis, l, out);
  keep_summands(axis, out);
  out.push_back(none());
  return out;
}

AxisUse Candidates::none() const {
  AxisUse use;
  use.partial_arguments.assign(in_.call.arguments.size(), 0);
  use.partial_results.assign(in_.call.results.size(), 0);
  use.what = "whole";
  return use;
}

// Returns the unit of the label with which the axis cuts this dimension in the
// layout, or 0 if it does not.
int64_t Candidates::unit_at(const Layout& layout, size_t axis,
                            const LabelDim& place, const Shape& shape) const {
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
      !in_.cluster.is_same_cut(layout, coarse, place.dim, size)) {
    return 0;
  }
  return unit / place.unit;
}

// Returns the unit with which an operand or the config cuts the label over the
// axis. 0: none does, so the axis cannot cut it.
int64_t Candidates::wanted_unit(size_t axis, const Label& label) const {
  for (size_t i = 0; i < in_.call.arguments.size(); ++i) {
    if (!label.arguments[i].is_there()) continue;
    const PlannedOperand& source = in_.line.operands[i];
    for (const Layout& layout : source.layouts) {
      const int64_t unit =
          unit_at(layout, axis, label.arguments[i], in_.call.type(i).shape);
      if (unit > 0) return unit;
    }
    if (!source.layouts.empty()) continue;
    for (const auto* layout : {&source.pin, &source.offer}) {
      if (!*layout) continue;
      const int64_t unit =
          unit_at(**layout, axis, label.arguments[i], in_.call.type(i).shape);
      if (unit > 0) return unit;
      if (source.pin) break;
    }
  }
  if (in_.line.pin && label.results[0].is_there()) {
    return unit_at(*in_.line.pin, axis, label.results[0],
                   in_.call.results[0].shape);
  }
  return 0;
}

void Candidates::cut_label(size_t axis, size_t l,
                           std::vector<AxisUse>& out) const {
  const Label& label = in_.labels[l];
  if (label.results.empty()) return;
  if (label.needs_split && in_.call.op->key_index("split") < 0) return;
  const int64_t unit = wanted_unit(axis, label);
  if (unit == 0) return;
  AxisUse use = none();
  use.unit = unit;
  use.label = static_cast<int>(l);
  const int64_t parts = in_.cluster.count(in_.line.set, axis);
  if (label.is_never_empty && label.size / use.unit < parts) return;
  for (size_t r = 0; r < label.results.size(); ++r) {
    if (label.results[r].is_there() || !label.extreme.empty()) continue;
    if (!label.is_summed || in_.call.results[r].dtype == Dtype::kBool) return;
    use.partial_results[r] = 1;
  }
  for (size_t i = 0; i < label.added.size(); ++i) {
    use.partial_arguments[i] = label.added[i];
  }
  use.what = describe(label);
  out.push_back(std::move(use));
}

// Returns text such as "x.0 w.1 cut".
std::string Candidates::describe(const Label& label) const {
  std::string out;
  for (size_t i = 0; i < label.arguments.size(); ++i) {
    if (!label.arguments[i].is_there()) continue;
    out += std::string(in_.call.arguments[i].text) + "." +
           std::to_string(label.arguments[i].dim) + " ";
  }
  if (out.empty() && !label.results.empty()) {
    out = "result." + std::to_string(label.results[0].dim) + " ";
  }
  return out + (label.is_summed ? "cut, summed" : "cut");
}

bool Candidates::has_summands(size_t axis, size_t i) const {
  const PlannedOperand& source = in_.line.operands[i];
  return std::any_of(
      source.layouts.begin(), source.layouts.end(),
      [&](const Layout& layout) { return layout.is_partial(axis); });
}

// Adds the ways in which sums are not taken before the line: the arguments in
// which the op is linear stay summands, and so do the results.
void Candidates::keep_summands(size_t axis, std::vector<AxisUse>& out) const {
  bool any = false;
  for (size_t i = 0; i < in_.call.arguments.size(); ++i) {
    any |= is_tensor(in_.call.arguments[i]) && has_summands(axis, i);
  }
  if (!any) return;
  const std::vector<std::string_view> sets = linear_sets(*in_.call.op);
  if (sets.empty()) try_summands(axis, std::nullopt, out);
  for (const std::string_view set : sets) try_summands(axis, set, out);
}

// Returns true if the result has fewer digits than the operand. Then summands
// may be out of range although the sum is not.
bool Candidates::narrows() const {
  return in_.call.op->row->lineage == Lineage::kSame &&
         is_float(in_.call.type(0).dtype) &&
         size_of(in_.call.results[0].dtype) < size_of(in_.call.type(0).dtype);
}

void Candidates::try_summands(size_t axis, std::optional<std::string_view> set,
                              std::vector<AxisUse>& out) const {
  AxisUse use = none();
  std::vector<char> letters;
  bool any = false;
  const size_t n = in_.call.arguments.size();
  for (size_t i = 0; i < n; ++i) {
    const Argument& a = in_.call.arguments[i];
    if (a.role == Role::kTensor && a.literal) {
      letters.push_back(a.number.real != 0 ? kLiteralLetter : kNoLetter);
      continue;
    }
    if (!is_tensor(a)) {
      letters.push_back(kNoLetter);
      continue;
    }
    const char parameter =
        static_cast<char>('0' + in_.call.op->parameter_of(i, n));
    const bool summands =
        set ? set->find(parameter) != set->npos : has_summands(axis, i);
    use.partial_arguments[i] = summands;
    any |= summands && has_summands(axis, i);
    letters.push_back(summands ? 'P' : 'R');
  }
  if (!any || narrows() || join(in_.call, letters).letter != 'P') return;
  use.partial_results.assign(in_.call.results.size(), 1);
  use.what = "summands";
  out.push_back(std::move(use));
}

}  // namespace gt::shard
