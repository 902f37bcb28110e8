#include "spmd/remesh.h"

#include <algorithm>

namespace gt {
namespace {

struct AxisGroup {
  std::vector<Axis> from;
  std::vector<Axis> to;
};

std::vector<Axis> by_stride(std::vector<Axis> axes) {
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  return axes;
}

// Cuts both lists into the smallest groups of equal size.
bool cut_groups(const std::vector<Axis>& from, const std::vector<Axis>& to,
                std::vector<AxisGroup>& groups) {
  size_t f = 0, t = 0;
  while (f < from.size() && t < to.size()) {
    AxisGroup group{{from[f]}, {to[t]}};
    int64_t a = from[f++].size;
    int64_t b = to[t++].size;
    while (a != b) {
      if (a < b && f < from.size()) {
        a *= from[f].size;
        group.from.push_back(from[f++]);
      } else if (b < a && t < to.size()) {
        b *= to[t].size;
        group.to.push_back(to[t++]);
      } else {
        return false;
      }
    }
    groups.push_back(std::move(group));
  }
  return f == from.size() && t == to.size();
}

// Translates the spec. An entry must be a sequence of whole groups, in order.
bool move_spec(const Placement& from, const std::vector<AxisGroup>& groups,
               Placement& out) {
  if (from.spec.empty()) return true;
  out.spec.resize(from.spec.size());
  for (size_t d = 0; d < from.spec.size(); ++d) {
    const SpecEntry& entry = from.spec[d];
    for (size_t i = 0; i < entry.size();) {
      const auto group = std::find_if(
          groups.begin(), groups.end(),
          [&](const AxisGroup& g) { return g.from[0] == entry[i]; });
      const bool kept = std::none_of(
          groups.begin(), groups.end(),
          [&](const AxisGroup& g) { return contains(g.from, entry[i]); });
      if (kept) {
        out.spec[d].push_back(entry[i++]);
        continue;
      }
      if (group == groups.end()) return false;
      for (const Axis& axis : group->from) {
        if (i == entry.size() || entry[i++] != axis) return false;
      }
      out.spec[d].insert(out.spec[d].end(), group->to.begin(), group->to.end());
    }
  }
  return true;
}

}  // namespace

std::optional<Placement> remesh(const Placement& from,
                                const std::vector<Axis>& to,
                                TypeFaults& faults) {
  std::vector<Axis> sources, targets, all;
  Placement out;
  for (const AxisType& a : from.axes) all.push_back(a.axis);
  for (const Axis& axis : to) {
    if (axis.size > 1 && !contains(all, axis)) targets.push_back(axis);
  }
  for (const AxisType& a : from.axes) {
    if (contains(to, a.axis)) {
      out.set(a.axis, a.letter, a.pending);
    } else {
      sources.push_back(a.axis);
    }
  }
  sources = by_stride(std::move(sources));
  targets = by_stride(std::move(targets));
  std::vector<AxisGroup> groups;
  const auto fail = [&](Rule rule, const AxisGroup& group) {
    faults.add({.rule = rule,
                .axes = sources,
                .from = group.from,
                .to = group.to,
                .seen = from});
    return std::nullopt;
  };
  if (!cut_groups(sources, targets, groups)) {
    return fail(Rule::kRemeshSizes, {sources, targets});
  }
  for (const AxisGroup& group : groups) {
    const char letter = from.on(group.from[0]);
    for (const Axis& axis : group.from) {
      if (from.on(axis) != letter) return fail(Rule::kRemeshLetters, group);
    }
    if (merged(group.from) != merged(group.to)) {
      return fail(Rule::kRemeshRanks, group);
    }
    for (const Axis& axis : group.to) out.set(axis, letter);
  }
  if (!move_spec(from, groups, out)) return fail(Rule::kRemeshSpec, {});
  return out;
}

std::optional<Placement> remesh_to_current(const Placement& from,
                                           const AxisNames& names,
                                           TypeFaults& faults) {
  const std::vector<Axis> mesh = names.mesh_axes();
  std::vector<Axis> foreign, to;
  for (const AxisType& a : from.axes) {
    if (!contains(mesh, a.axis)) foreign.push_back(a.axis);
  }
  if (foreign.empty() || mesh.empty()) return from;
  for (const Axis& axis : mesh) {
    const bool reached =
        std::any_of(foreign.begin(), foreign.end(), [&](const Axis& f) {
          return f.stride < axis.stride * axis.size &&
                 axis.stride < f.stride * f.size;
        });
    if (reached || from.on(axis) != kUntyped) to.push_back(axis);
  }
  return remesh(from, to, faults);
}

}  // namespace gt
