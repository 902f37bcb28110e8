// A Placement is the SPMD type of a tensor: for each axis of a mesh a letter
// that says how the pieces on the ranks along the axis relate to one value, and
// which dimension the axis shards, if any (gt-check(1)).
//
//   R  replicated: equal copies, each used for a computation of its own;
//      its gradient is P, since every use contributes to it
//   I  invariant: equal copies, used for one computation that all ranks repeat;
//      its gradient is I
//   V  varying: a value of its own on each rank, unrelated ones or shards of a
//      whole; its gradient is V
//   P  partial: summands, whose sum is the value; its gradient is R
//
// S(i), or S0, in texts means sharded along dimension i. Here it is the letter
// V together with an entry for dimension i in `spec`.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "spmd/mesh.h"

namespace gt {

inline constexpr char kUntyped = '?';  // the letter is unknown

// Returns the letter of the gradient of a value with this letter.
char dual(char letter);

// `pending` refines the letter on an axis. A V may hold the maxima or minima of
// each rank's part: then an all_reduce of that kind must follow before any
// other op may read it.
inline constexpr int32_t kPendingMax = -1;
inline constexpr int32_t kPendingMin = -2;

// For a P, one rank along the axis may hold all of the sum and the others
// zeros, as reduce leaves it. Then `pending` is root_on() of that rank.
inline int32_t root_on(const Axis& axis, int64_t rank) {
  return static_cast<int32_t>(axis.coordinate(rank)) + 1;
}

struct AxisType {
  Axis axis;
  char letter;          // R, I, V, P
  int32_t pending = 0;  // as above; 0: nothing is pending
  friend auto operator<=>(const AxisType&, const AxisType&) = default;
};

// The axes that shard one dimension, the outer first.
using SpecEntry = std::vector<Axis>;

// True if the axis is one of the axes.
inline bool contains(const std::vector<Axis>& axes, const Axis& axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

struct Placement {
  std::vector<AxisType> axes;   // by falling stride; none of size 1
  std::vector<SpecEntry> spec;  // by dimension; empty if nothing is sharded

  // Return the letter on the axis, kUntyped if it has none, and what is
  // pending.
  char on(const Axis& axis) const;
  int32_t pending(const Axis& axis) const;
  // set() gives the axis a letter, drop() removes the letter; both leave the
  // spec.
  void set(const Axis& axis, char letter, int32_t pending = 0);
  void drop(const Axis& axis);

  int dim_of(const Axis& axis) const;  // the dimension that the axis shards, or
                                       // -1
  // Lets the axis shard dimension `dim` of `dims`, as its innermost axis; the
  // axis keeps its letter.
  void shard(const Axis& axis, size_t dim, size_t dims);
  void unshard(const Axis& axis);
  bool is_sharded() const { return !spec.empty(); }
  // True if several axes shard one dimension, so that only #spec= can say in
  // which order they do.
  bool needs_spec() const;
  // Insert a new dimension in the spec, or remove one.
  void insert_dim(size_t dim);
  void erase_dim(size_t dim);

  friend auto operator<=>(const Placement&, const Placement&) = default;
};

}  // namespace gt
