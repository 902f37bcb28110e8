#include "spmd/placement.h"

#include <algorithm>

namespace gt {

char dual(char letter) {
  return letter == 'R' ? 'P' : letter == 'P' ? 'R' : letter;
}

char Placement::on(const Axis& axis) const {
  for (const AxisType& a : axes) {
    if (a.axis == axis) return a.letter;
  }
  return kUntyped;
}

int32_t Placement::pending(const Axis& axis) const {
  for (const AxisType& a : axes) {
    if (a.axis == axis) return a.pending;
  }
  return 0;
}

void Placement::set(const Axis& axis, char letter, int32_t pending) {
  drop(axis);
  if (letter == kUntyped || axis.size == 1) return;
  const auto at =
      std::find_if(axes.begin(), axes.end(), [&](const AxisType& a) {
        return a.axis.stride < axis.stride ||
               (a.axis.stride == axis.stride && a.axis.size < axis.size);
      });
  axes.insert(at, {axis, letter, pending});
}

void Placement::drop(const Axis& axis) {
  std::erase_if(axes, [&](const AxisType& a) { return a.axis == axis; });
}

int Placement::dim_of(const Axis& axis) const {
  for (size_t d = 0; d < spec.size(); ++d) {
    if (std::find(spec[d].begin(), spec[d].end(), axis) != spec[d].end()) {
      return static_cast<int>(d);
    }
  }
  return -1;
}

void Placement::shard(const Axis& axis, size_t dim, size_t dims) {
  if (axis.size == 1) return;
  spec.resize(dims);
  spec[dim].push_back(axis);
}

void Placement::unshard(const Axis& axis) {
  bool any = false;
  for (SpecEntry& entry : spec) {
    std::erase(entry, axis);
    any = any || !entry.empty();
  }
  if (!any) spec.clear();
}

bool Placement::needs_spec() const {
  return std::any_of(spec.begin(), spec.end(),
                     [](const SpecEntry& entry) { return entry.size() > 1; });
}

void Placement::insert_dim(size_t dim) {
  if (!spec.empty())
    spec.insert(spec.begin() + static_cast<long>(dim), SpecEntry{});
}

void Placement::erase_dim(size_t dim) {
  if (!spec.empty()) spec.erase(spec.begin() + static_cast<long>(dim));
}

}  // namespace gt
