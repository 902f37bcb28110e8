// The names of mesh axes, and placements written in these names: the values of
// #type= and #spec=, and texts for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/placement.h"

namespace gt {

// The names of axes that a line can use: those of the current mesh of its name
// space, and of the meshes that were declared around it and are not ended yet.
class AxisNames {
 public:
  AxisNames() = default;
  explicit AxisNames(std::vector<const Mesh*> open)  // innermost first
      : open_(std::move(open)) {}
  // Takes the names of one mesh; there are none if it is null.
  explicit AxisNames(const Mesh* mesh) {
    if (mesh != nullptr) open_.push_back(mesh);
  }

  // Returns the current mesh, null if none is declared.
  const Mesh* mesh() const { return open_.empty() ? nullptr : open_[0]; }
  // Returns the current mesh's axes of more than one coordinate, outermost
  // first.
  std::vector<Axis> mesh_axes() const;
  // True if the axis is one of mesh_axes().
  bool is_current(const Axis& axis) const;
  // Returns the name of an axis in the innermost mesh that has one for it, else
  // "SIZE:STRIDE".
  std::string name(const Axis& axis) const;
  // Returns the axes that a name such as "tp", "dp+tp" or a flattened axis
  // stands for. Several that make up one axis are merged. Errors: no mesh is
  // declared, or none has an axis of the name.
  Result<std::vector<Axis>> find(std::string_view name) const;

  // Returns the value of #type=, "dp:S0,tp:R". If several axes shard one
  // dimension, only #spec= can say in which order, and #type= has V for all
  // shards.
  std::string type_text(const Placement& type) const;
  // Returns the value of #spec=, "dp+tp,-": for each dimension the axes that
  // shard it. Returns "" if type_text() says everything, unless `always`.
  std::string spec_text(const Placement& type, bool always = false) const;
  // Returns both in braces, "{dp:S0,tp:R}", for messages.
  std::string describe(const Placement& type) const;

 private:
  std::vector<const Mesh*> open_;
};

// Returns the axes by falling stride, with neighbours that together run through
// consecutive multiples of the inner stride merged into one axis.
std::vector<Axis> merged(std::vector<Axis> axes);
// True if the axes can be coordinates together: no two combinations of
// coordinates are the same rank.
bool are_independent(std::vector<Axis> axes);

}  // namespace gt
