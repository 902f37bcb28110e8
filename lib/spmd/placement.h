// What a tensor is on each axis of a mesh: a letter, and the dimension that the
// axis shards (gt-check(1)).
//
//   R  equal copies, each used separately      gradient P
//   I  equal copies, one computation           gradient I
//   V  unrelated values, or shards             gradient V
//   P  summands                                gradient R
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "spmd/mesh.h"

namespace gt {

inline constexpr char kUntyped = '?';  // nobody knows

// The letter of the gradient of a value with this letter.
char dual(char letter);

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

struct Placement {
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

  friend auto operator<=>(const Placement&, const Placement&) = default;
};

}  // namespace gt
