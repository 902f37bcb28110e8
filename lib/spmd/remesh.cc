#include "spmd/remesh.h"

#include <algorithm>

namespace gt {
namespace {

struct AxisGroup {
  std::vector<Axis> from;
  std::vector<Axis> to;
  char letter;
};

std::vector<Axis> by_stride(std::vector<Axis> axes) {
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  return axes;
}

bool holds(const std::vector<Axis>& axes, const Axis& axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string list(const std::vector<Axis>& axes, const AxisNames& names) {
  std::string out;
  for (const Axis& axis : axes) {
    out += (out.empty() ? "" : ",") + names.name(axis);
  }
  return out.empty() ? "none" : out;
}

// Cuts both lists into the smallest groups of equal size.
bool cut_groups(const std::vector<Axis>& from, const std::vector<Axis>& to,
                std::vector<AxisGroup>& groups) {
  size_t f = 0, t = 0;
  while (f < from.size() && t < to.size()) {
    AxisGroup group{{from[f]}, {to[t]}, 0};
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

// What of the axis none of the others covers; nothing if none meets it.
std::vector<Axis> uncovered(const Axis& whole,
                            const std::vector<Axis>& others) {
  const std::vector<Axis> falling = by_stride(others);
  const int64_t end = whole.stride * whole.size;
  int64_t at = whole.stride;
  std::vector<Axis> rest;
  bool meets = false;
  for (auto other = falling.rbegin(); other != falling.rend(); ++other) {
    const int64_t low = std::max(other->stride, whole.stride);
    const int64_t high = std::min(other->stride * other->size, end);
    if (low >= high) continue;
    meets = true;
    if (low > at) rest.push_back({low / at, at});
    at = std::max(at, high);
  }
  if (!meets) return {};
  if (at < end) rest.push_back({end / at, at});
  return rest;
}

// "; of dp_cp, cp is missing", of each axis on either side.
std::string missing(const std::vector<Axis>& from, const std::vector<Axis>& to,
                    const AxisNames& names) {
  std::string text;
  const auto add = [&](const auto& axes, const auto& others) {
    for (const Axis& axis : axes) {
      const std::vector<Axis> rest = uncovered(axis, others);
      if (rest.empty()) continue;
      text +=
          "; of " + names.name(axis) + ", " + list(rest, names) + " is missing";
    }
  };
  add(to, from);
  add(from, to);
  return text;
}

// An entry must be a sequence of whole groups, in order.
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
          [&](const AxisGroup& g) { return holds(g.from, entry[i]); });
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

bool remesh(const Placement& from, const std::vector<Axis>& to,
            const AxisNames& names, Placement& out, Kinded& problem) {
  std::vector<Axis> sources, targets, all;
  out = {};
  for (const AxisType& a : from.axes) all.push_back(a.axis);
  for (const Axis& axis : to) {
    if (axis.size > 1 && !holds(all, axis)) targets.push_back(axis);
  }
  for (const AxisType& a : from.axes) {
    if (holds(to, a.axis)) {
      out.set(a.axis, a.letter, a.pending);
    } else {
      sources.push_back(a.axis);
    }
  }
  sources = by_stride(std::move(sources));
  targets = by_stride(std::move(targets));
  std::vector<AxisGroup> groups;
  const auto fail = [&](const char* kind, const std::string& message) {
    problem = {kind, list(sources, names), message};
    return false;
  };
  if (!cut_groups(sources, targets, groups)) {
    return fail("remesh-region", "axes " + list(sources, names) + " and " +
                                     list(targets, names) +
                                     " do not cover the same ranks" +
                                     missing(sources, targets, names));
  }
  for (AxisGroup& group : groups) {
    group.letter = from.on(group.from[0]);
    for (const Axis& axis : group.from) {
      if (from.on(axis) == group.letter) continue;
      return fail("remesh-mixed",
                  "axes " + list(group.from, names) + " become " +
                      list(group.to, names) +
                      ", but have different types: " + names.describe(from));
    }
    if (merged(group.from) != merged(group.to)) {
      return fail("remesh-region", "axes " + list(group.from, names) + " and " +
                                       list(group.to, names) +
                                       " are not the same ranks");
    }
    for (const Axis& axis : group.to) out.set(axis, group.letter);
  }
  if (move_spec(from, groups, out)) return true;
  return fail("remesh-spec", "spec " + names.spec_text(from, true) +
                                 " is no sequence of whole groups of " +
                                 list(sources, names));
}

bool remesh_to_current(const Placement& from, const AxisNames& names,
                       Placement& out, Kinded& problem) {
  const std::vector<Axis> mesh = names.mesh_axes();
  std::vector<Axis> foreign, to;
  for (const AxisType& a : from.axes) {
    if (!holds(mesh, a.axis)) foreign.push_back(a.axis);
  }
  out = from;
  if (foreign.empty() || mesh.empty()) return true;
  for (const Axis& axis : mesh) {
    const bool reached =
        std::any_of(foreign.begin(), foreign.end(), [&](const Axis& f) {
          return f.stride < axis.stride * axis.size &&
                 axis.stride < f.stride * f.size;
        });
    if (reached || from.on(axis) != '?') to.push_back(axis);
  }
  return remesh(from, to, names, out, problem);
}

}  // namespace gt
