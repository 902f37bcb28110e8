#include "spmd/axis_names.h"

#include <algorithm>

namespace gt {

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
  int64_t span = 0;  // the largest number that the axes so far reach
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
    if (axis.size > 1) axes.push_back(axis);
  }
  return axes;
}

bool AxisNames::is_current(const Axis& axis) const {
  return contains(mesh_axes(), axis);
}

std::string AxisNames::name(const Axis& axis) const {
  for (const Mesh* mesh : open_) {
    for (const MeshAxis& a : mesh->axes()) {
      if (a == axis) return a.name;
    }
    for (const std::string& flat : mesh->flattened_names()) {
      const auto parts = mesh->resolve(flat);
      std::vector<Axis> layouts;
      for (const MeshAxis* a : parts.value()) layouts.push_back(*a);
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
    for (const MeshAxis* a : parts.value()) layouts.push_back(*a);
    if (layouts.size() == 1) return layouts;
    return merged(std::move(layouts));
  }
  if (open_.empty()) {
    return Error{
        "no mesh is declared; write one before, as in: mesh dp=2 tp=2"};
  }
  return open_[0]->resolve(name).error();
}

std::string AxisNames::type_text(const Placement& type) const {
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

std::string AxisNames::spec_text(const Placement& type, bool always) const {
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

std::string AxisNames::describe(const Placement& type) const {
  const std::string spec = spec_text(type);
  return "{" + type_text(type) + (spec.empty() ? "" : " spec=" + spec) + "}";
}

}  // namespace gt
