// The names of axes, and what stands in their terms: a placement as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/placement.h"

namespace gt {

// The names of axes in one name space: of the current mesh, and of those around
// it.
class AxisNames {
 public:
  AxisNames() = default;
  explicit AxisNames(std::vector<const Mesh*> open)  // innermost first
      : open_(std::move(open)) {}

  const Mesh* mesh() const { return open_.empty() ? nullptr : open_[0]; }
  std::vector<Axis> mesh_axes() const;  // of the current mesh, outermost first
  bool is_current(const Axis& axis) const;
  std::string name(const Axis& axis) const;
  // The layouts that a name means, merged where they are one. Errors: unknown,
  // told apart by kind: axis-unknown, no-mesh.
  Result<std::vector<Axis>> find(std::string_view name) const;

  // "dp:S0,tp:R", as in #type=; V of all that shards where #spec= must say it.
  std::string type_text(const Placement& type) const;
  // "dp+tp,-", as in #spec=; "" when the type says it all.
  std::string spec_text(const Placement& type, bool always = false) const;
  // "{dp:S0,tp:R}", for messages.
  std::string describe(const Placement& type) const;

 private:
  std::vector<const Mesh*> open_;
};

// Axes by falling stride, those that make one layout as one.
std::vector<Axis> merged(std::vector<Axis> axes);
// Whether no two ranks have one set of coordinates.
bool are_independent(std::vector<Axis> axes);

}  // namespace gt
