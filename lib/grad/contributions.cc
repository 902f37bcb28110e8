#include "grad/contributions.h"

#include <algorithm>

#include "ops/shape_rules.h"

namespace gt::grad {
namespace {

// What brings a contribution of one type to the type of its value: the adjoints
// of broadcasting and of promotion.
struct Fit {
  std::vector<int64_t> axes;  // to sum
  bool reshapes = false;
  Type wanted;
  bool casts = false;
  friend bool operator==(const Fit&, const Fit&) = default;
};

// Returns the dimensions that broadcasting added or stretched.
std::vector<int64_t> summed_axes(const Shape& from, const Shape& to) {
  std::vector<int64_t> axes;
  const size_t lead = from.size() - std::min(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const bool added = i < lead;
    const bool stretched = !added && to[i - lead] == 1 && from[i] != 1;
    if (added || stretched) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

// `axes`: the axes to sum, if the types of the wholes determine them.
Fit fit_of(const Type& from, const Type& to,
           const std::optional<std::vector<int64_t>>& axes) {
  Fit fit;
  fit.wanted = to;
  if (axes || from.shape != to.shape) {
    fit.axes = axes ? *axes : summed_axes(from.shape, to.shape);
    fit.reshapes = reduced_shape(from.shape, fit.axes, false) != to.shape;
  }
  fit.casts = from.dtype != to.dtype;
  if (!fit.reshapes) fit.wanted.shape = {};
  return fit;
}

std::string axes_text(const std::vector<int64_t>& axes) {
  std::string text;
  for (const int64_t a : axes) {
    text += (text.empty() ? "" : ",") + std::to_string(a);
  }
  return text;
}

}  // namespace

Ranks Contributions::ranks(ValueId value) const {
  Ranks all;
  for (const HandleOnRanks& part : parts(value)) {
    all = together(all, part.ranks);
  }
  return all;
}

const std::vector<HandleOnRanks>& Contributions::parts(ValueId value) const {
  static const Parts kNone;
  const auto it = parts_.find(value);
  return it == parts_.end() ? kNone : it->second;
}

void Contributions::add(ValueId value, const GradientOperand& operand,
                        const Ranks& ranks, MeshId mesh) {
  for (const HandleOnRanks& part : fit(value, operand, ranks, mesh)) {
    const Handle h = settle(value, part.handle, {part.ranks, mesh});
    given_.insert(h);
    put(parts_[value], h, part.ranks, mesh);
  }
}

// Adds a contribution to those on the same ranks; on other ranks it is kept
// beside them.
void Contributions::put(Parts& parts, Handle handle, Ranks ranks, MeshId mesh) {
  const auto sum = [&](Handle other, const Ranks& where) {
    return lines_.add(
        "add", {GradientLines::handle(other), GradientLines::handle(handle)},
        {}, {where, mesh});
  };
  if (ranks.empty()) {
    if (parts.empty()) return parts.push_back({handle, {}});
    parts[0].handle = sum(parts[0].handle, {});
    return;
  }
  for (size_t i = 0, n = parts.size(); i < n && !ranks.empty(); ++i) {
    const Ranks both = common(parts[i].ranks, ranks);
    if (both.empty()) continue;
    const Handle added = sum(parts[i].handle, both);
    parts[i].ranks = without(parts[i].ranks, both);
    ranks = without(ranks, both);
    parts.push_back({added, both});
  }
  if (!ranks.empty()) parts.push_back({handle, ranks});
  std::erase_if(parts, [](const HandleOnRanks& p) { return p.ranks.empty(); });
}

// Returns the axes that broadcasting added or stretched in the wholes: a size
// of 1 in a piece does not tell.
std::optional<std::vector<int64_t>> Contributions::whole_axes(
    const GradientOperand& operand, TypeId wanted) const {
  if (!ValueTypes::is_placed(wanted)) return std::nullopt;
  const auto from = lines_.whole(lines_.type_id(operand));
  const auto to = lines_.whole(wanted);
  if (!from || !to || from->shape.size() < to->shape.size()) {
    return std::nullopt;
  }
  return summed_axes(from->shape, to->shape);
}

// Brings the contribution to the value's own shape and dtype, with a line for
// each set of ranks that need the same.
std::vector<HandleOnRanks> Contributions::fit(ValueId value,
                                              const GradientOperand& operand,
                                              const Ranks& ranks, MeshId mesh) {
  struct SameFit {
    Fit fit;
    Ranks ranks;
  };
  std::vector<SameFit> groups;
  const TypeId wanted = tape_.type(value);
  const auto axes = whole_axes(operand, wanted);
  const auto cut = lines_.cut(wanted, {ranks, mesh});
  const auto put = [&](int64_t rank) {
    Fit fit = fit_of(lines_.type(operand, rank),
                     lines_.types().on(wanted, rank), axes);
    if (fit.reshapes && cut) fit.wanted.shape = cut->whole;
    for (SameFit& group : groups) {
      if (group.fit == fit) return group.ranks.push_back(rank);
    }
    groups.push_back({fit, {rank}});
  };
  for (const int64_t rank : ranks) put(rank);
  if (ranks.empty()) {
    put(0);
    groups[0].ranks.clear();
  }
  std::vector<HandleOnRanks> fitted;
  for (const SameFit& group : groups) {
    const LinePlace place{group.ranks, mesh};
    GradientOperand made = operand;
    if (!group.fit.axes.empty()) {
      made = GradientLines::handle(lines_.add(
          "sum", {made}, {{"axis", axes_text(group.fit.axes)}}, place));
    }
    if (group.fit.reshapes) {
      GradientLines::Keys keys = {{"shape", list_text(group.fit.wanted.shape)}};
      if (cut) keys.emplace_back("split", cut->split);
      made = GradientLines::handle(
          lines_.add("reshape", {made}, std::move(keys), place));
    }
    if (group.fit.casts) {
      const std::string dtype(to_string(group.fit.wanted.dtype));
      made = GradientLines::handle(
          lines_.add("cast", {made, GradientLines::text(dtype)}, {}, place));
    }
    if (made.kind != GradientOperand::Kind::kHandle) {
      made = GradientLines::handle(lines_.add("copy", {made}, {}, place));
    }
    fitted.push_back({made.id, group.ranks});
  }
  return fitted;
}

// The gradient of a value that all ranks hold alike (R) is the sum of what
// flows back to them. If a line gave unrelated values there (V), they are the
// summands.
Handle Contributions::settle(ValueId value, Handle handle,
                             const LinePlace& place) {
  if (place.ranks.empty()) return handle;
  const Placement& is = lines_.letters(tape_.type(value));
  const Placement& made =
      lines_.letters(lines_.type_id(GradientLines::handle(handle)));
  Placement partial;
  for (const AxisType& a : is.axes) {
    const Axis& axis = a.axis;
    if (a.letter == 'R' && made.on(axis) == 'V') partial.set(axis, 'P');
  }
  partial = restricted(partial, place.ranks);
  if (partial.axes.empty()) return handle;
  const bool fresh = lines_.line_of(handle) >= fresh_from_ &&
                     !lines_.is_read(handle) && given_.count(handle) == 0;
  return lines_.owe(handle, partial, fresh, place);
}

Handle Contributions::read(ValueId value, const LinePlace& place) {
  Parts& parts = parts_.at(value);
  if (place.ranks.empty()) return parts[0].handle;
  const Ranks wanted = ascending(place.ranks);
  std::vector<HandleOnRanks> read;
  Ranks rest = wanted;
  for (const HandleOnRanks& part : parts) {
    if (includes(part.ranks, wanted)) return part.handle;
    const Ranks both = common(part.ranks, wanted);
    if (both.empty()) continue;
    read.push_back({part.handle, both});
    rest = without(rest, both);
  }
  const TypeId type = tape_.type(value);
  Placement claim;
  for (const AxisType& a : restricted(lines_.letters(type), wanted).axes) {
    const char letter = dual(a.letter);
    if (letter == 'P' || letter == 'I') {
      claim.set(a.axis, letter);
    }
  }
  const Handle whole = lines_.join(
      read, rest, [&](int64_t rank) { return lines_.types().on(type, rank); },
      claim, place);
  for (HandleOnRanks& part : parts) part.ranks = without(part.ranks, wanted);
  std::erase_if(parts, [](const HandleOnRanks& p) { return p.ranks.empty(); });
  parts.push_back({whole, wanted});
  given_.insert(whole);
  return whole;
}

}  // namespace gt::grad
