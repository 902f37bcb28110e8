// What a tensor is on each axis: a letter, and the dimension that the axis
// shards (gt-check(1)). Axes are layouts: two names of one layout are one axis.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/mesh.h"

namespace gt {

struct Axis {
  int64_t size = 1;
  int64_t stride = 1;
  friend auto operator<=>(const Axis&, const Axis&) = default;

  int64_t coordinate(int64_t rank) const { return rank / stride % size; }
  // The rank beside it at coordinate 0.
  int64_t origin(int64_t rank) const {
    return rank - coordinate(rank) * stride;
  }
};
inline Axis layout(const MeshAxis& axis) { return {axis.size, axis.stride}; }

// What a V still has to go through before anybody else may read it: max or min
// over its axis. Of a P: all but one rank hold zeros, and which.
inline constexpr int32_t kPendingMax = -1;
inline constexpr int32_t kPendingMin = -2;

// Of a P that the rank alone does not hold zeros of, along the axis.
inline int32_t root_on(const Axis& axis, int64_t rank) {
  return static_cast<int32_t>(axis.coordinate(rank)) + 1;
}

struct AxisType {
  Axis axis;
  char letter;          // R, I, V, P
  int32_t pending = 0;  // of V: kPendingMax, kPendingMin; of P: root_on(), or 0
  friend auto operator<=>(const AxisType&, const AxisType&) = default;
};

// The axes that shard a dimension, outer first.
using SpecEntry = std::vector<Axis>;

struct SpmdType {
  std::vector<AxisType> axes;   // by falling stride; size 1 is never there
  std::vector<SpecEntry> spec;  // by dimension; none when nothing is sharded

  char on(const Axis& axis) const;  // kUntyped if it is not there
  int32_t pending(const Axis& axis) const;
  void set(const Axis& axis, char letter, int32_t pending = 0);
  void drop(const Axis& axis);

  int dim_of(const Axis& axis) const;  // that the axis shards, or -1
  void shard(const Axis& axis, size_t dim, size_t dims);  // innermost
  void unshard(const Axis& axis);
  bool is_sharded() const { return !spec.empty(); }
  // Several axes shard one dimension: only #spec= says in which order.
  bool needs_spec() const;
  // A dimension comes, or goes.
  void insert_dim(size_t dim);
  void erase_dim(size_t dim);

  friend auto operator<=>(const SpmdType&, const SpmdType&) = default;
};

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
  std::string type_text(const SpmdType& type) const;
  // "dp+tp,-", as in #spec=; "" when the type says it all.
  std::string spec_text(const SpmdType& type, bool always = false) const;
  // "{dp:S0,tp:R}", for messages.
  std::string describe(const SpmdType& type) const;

 private:
  std::vector<const Mesh*> open_;
};

// Axes by falling stride, those that make one layout as one.
std::vector<Axis> merged(std::vector<Axis> axes);
// Whether no two ranks have one set of coordinates.
bool are_independent(std::vector<Axis> axes);

// One statement of a type: "dp:S0", or all of #spec=.
struct Claim {
  struct Item {
    std::vector<Axis> axes;
    std::string name;
    char letter;
    int64_t dim = 0;  // of S
  };
  std::vector<Item> items;
  bool all = false;  // one letter for all axes, in items[0] without axes
  bool has_spec = false;
  std::vector<SpecEntry> spec;
};
struct Kinded {  // an error with its kind
  std::string kind;
  std::string axis;
  std::string message;
};
// Both texts may be empty. Problems: axis-unknown, no-mesh, overlap, spec-both.
bool parse_claim(std::string_view type, std::string_view spec,
                 const AxisNames& names, Claim& claim, Kinded& problem);

}  // namespace gt
