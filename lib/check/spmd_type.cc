#include "check/spmd_type.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "ops/ends.h"
#include "spmd/join.h"

namespace gt {

char SpmdType::on(const Axis& axis) const {
  for (const AxisType& a : axes) {
    if (a.axis == axis) return a.letter;
  }
  return kUntyped;
}

int32_t SpmdType::pending(const Axis& axis) const {
  for (const AxisType& a : axes) {
    if (a.axis == axis) return a.pending;
  }
  return 0;
}

void SpmdType::set(const Axis& axis, char letter, int32_t pending) {
  drop(axis);
  if (letter == kUntyped || axis.size == 1) return;
  const auto at =
      std::find_if(axes.begin(), axes.end(), [&](const AxisType& a) {
        return a.axis.stride < axis.stride ||
               (a.axis.stride == axis.stride && a.axis.size < axis.size);
      });
  axes.insert(at, {axis, letter, pending});
}

void SpmdType::drop(const Axis& axis) {
  std::erase_if(axes, [&](const AxisType& a) { return a.axis == axis; });
}

int SpmdType::dim_of(const Axis& axis) const {
  for (size_t d = 0; d < spec.size(); ++d) {
    if (std::find(spec[d].begin(), spec[d].end(), axis) != spec[d].end()) {
      return static_cast<int>(d);
    }
  }
  return -1;
}

void SpmdType::shard(const Axis& axis, size_t dim, size_t dims) {
  if (axis.size == 1) return;
  spec.resize(dims);
  spec[dim].push_back(axis);
}

void SpmdType::unshard(const Axis& axis) {
  bool any = false;
  for (SpecEntry& entry : spec) {
    std::erase(entry, axis);
    any = any || !entry.empty();
  }
  if (!any) spec.clear();
}

bool SpmdType::needs_spec() const {
  return std::any_of(spec.begin(), spec.end(),
                     [](const SpecEntry& entry) { return entry.size() > 1; });
}

void SpmdType::insert_dim(size_t dim) {
  if (!spec.empty())
    spec.insert(spec.begin() + static_cast<long>(dim), SpecEntry{});
}

void SpmdType::erase_dim(size_t dim) {
  if (!spec.empty()) spec.erase(spec.begin() + static_cast<long>(dim));
}

// ---- names ------------------------------------------------------------------

std::vector<Axis> merged(std::vector<Axis> axes) {
  std::erase_if(axes, [](const Axis& a) { return a.size == 1; });
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  std::vector<Axis> out;
  for (const Axis& axis : axes) {
    if (!out.empty() && out.back().stride == axis.stride * axis.size) {
      out.back() = {out.back().size * axis.size, axis.stride};
    } else {
      out.push_back(axis);
    }
  }
  return out;
}

bool are_independent(std::vector<Axis> axes) {
  std::erase_if(axes, [](const Axis& a) { return a.size == 1; });
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  int64_t span = 0;  // reached by those before
  for (const Axis& axis : axes) {
    if (axis.stride <= span) return false;
    span += (axis.size - 1) * axis.stride;
  }
  return true;
}

std::vector<Axis> AxisNames::mesh_axes() const {
  std::vector<Axis> axes;
  if (mesh() == nullptr) return axes;
  for (const MeshAxis& axis : mesh()->axes()) {
    if (axis.size > 1) axes.push_back(layout(axis));
  }
  return axes;
}

bool AxisNames::is_current(const Axis& axis) const {
  const std::vector<Axis> axes = mesh_axes();
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string AxisNames::name(const Axis& axis) const {
  for (const Mesh* mesh : open_) {
    for (const MeshAxis& a : mesh->axes()) {
      if (layout(a) == axis) return a.name;
    }
    for (const std::string& flat : mesh->flattened_names()) {
      const auto parts = mesh->resolve(flat);
      std::vector<Axis> layouts;
      for (const MeshAxis* a : parts.value()) layouts.push_back(layout(*a));
      if (merged(layouts) == std::vector<Axis>{axis}) return flat;
    }
  }
  return std::to_string(axis.size) + ":" + std::to_string(axis.stride);
}

Result<std::vector<Axis>> AxisNames::find(std::string_view name) const {
  for (const Mesh* mesh : open_) {
    const auto parts = mesh->resolve(name);
    if (!parts.ok()) continue;
    std::vector<Axis> layouts;
    for (const MeshAxis* a : parts.value()) layouts.push_back(layout(*a));
    if (layouts.size() == 1) return layouts;
    return merged(std::move(layouts));
  }
  if (open_.empty()) {
    return Error{
        "no mesh is declared; write one before, as in: mesh dp=2 tp=2"};
  }
  return open_[0]->resolve(name).error();
}

std::string AxisNames::type_text(const SpmdType& type) const {
  const bool has_spec = type.needs_spec();
  std::string out;
  for (const AxisType& a : type.axes) {
    out += (out.empty() ? "" : ",") + name(a.axis) + ":";
    const int dim = type.dim_of(a.axis);
    if (dim < 0 || has_spec) {
      out += a.letter;
    } else {
      out += "S" + std::to_string(dim);
    }
  }
  return out;
}

std::string AxisNames::spec_text(const SpmdType& type, bool always) const {
  if (!always && !type.needs_spec()) return "";
  std::string out;
  for (const SpecEntry& entry : type.spec) {
    if (&entry != type.spec.data()) out += ",";
    if (entry.empty()) out += "-";
    for (const Axis& axis : entry) {
      out += (&axis == entry.data() ? "" : "+") + name(axis);
    }
  }
  return out;
}

std::string AxisNames::describe(const SpmdType& type) const {
  const std::string spec = spec_text(type);
  return "{" + type_text(type) + (spec.empty() ? "" : " spec=" + spec) + "}";
}

// ---- claims -----------------------------------------------------------------

namespace {

bool take_type_items(std::string_view text, const AxisNames& names,
                     Claim& claim, Kinded& problem) {
  if (text.empty()) return true;
  if (text.find(':') == std::string_view::npos) {
    const auto end = parse_end(text);
    if (!end.ok()) {
      problem = {"axis-unknown", "", end.error().message};
      return false;
    }
    claim.all = true;
    claim.items.push_back({{}, "", end.value().letter, end.value().dim});
    return true;
  }
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t colon = std::min(word.find(':'), word.size());
    const std::string name(word.substr(0, colon));
    const auto end = parse_end(word.substr(std::min(colon + 1, word.size())));
    const auto axes = names.find(name);
    if (!axes.ok() || !end.ok()) {
      problem = {names.mesh() == nullptr ? "no-mesh" : "axis-unknown", name,
                 axes.ok() ? end.error().message : axes.error().message};
      return false;
    }
    claim.items.push_back(
        {axes.value(), name, end.value().letter, end.value().dim});
  }
  return true;
}

bool take_spec_entries(std::string_view text, const AxisNames& names,
                       Claim& claim, Kinded& problem) {
  claim.has_spec = true;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    SpecEntry& entry = claim.spec.emplace_back();
    while (word != "-" && !word.empty()) {
      const size_t plus = std::min(word.find('+'), word.size());
      const std::string name(word.substr(0, plus));
      const auto axes = names.find(name);
      if (!axes.ok()) {
        problem = {names.mesh() == nullptr ? "no-mesh" : "axis-unknown", name,
                   axes.error().message};
        return false;
      }
      entry.insert(entry.end(), axes.value().begin(), axes.value().end());
      word.remove_prefix(std::min(plus + 1, word.size()));
    }
    if (comma == text.size()) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool parse_claim(std::string_view type, std::string_view spec,
                 const AxisNames& names, Claim& claim, Kinded& problem) {
  if (!take_type_items(type, names, claim, problem)) return false;
  if (!spec.empty() && !take_spec_entries(spec, names, claim, problem)) {
    return false;
  }
  std::vector<Axis> typed;
  for (const Claim::Item& item : claim.items) {
    for (const Axis& axis : item.axes) {
      if (std::find(typed.begin(), typed.end(), axis) != typed.end() &&
          axis.size > 1) {
        problem = {"overlap", item.name, "the axis is typed twice"};
        return false;
      }
      typed.push_back(axis);
    }
  }
  if (!are_independent(typed)) {
    problem = {"overlap", claim.items[0].name,
               "axes of one type share ranks without being independent: " +
                   std::string(type)};
    return false;
  }
  return true;
}

}  // namespace gt
