// Where a value is, and how it is cut: a set of ranks, and for each axis of the
// mesh R (equal copies), S (a cut dimension) or P (summands), as in
// gt-stream(5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/mesh.h"
#include "spmd/rank_set.h"
#include "spmd/split.h"
#include "stream/type.h"

namespace gt {

// Dimension `dim` over an axis, given by its index in the mesh, in units.
struct AxisCut {
  uint32_t axis = 0;
  int32_t dim = 0;
  int64_t unit = 1;
  friend bool operator==(const AxisCut&, const AxisCut&) = default;
};

struct Layout {
  uint32_t set = 0;           // index in Cluster's rank sets; 0: the whole mesh
  uint32_t partial = 0;       // a bit for each axis that holds summands
  std::vector<AxisCut> cuts;  // by dimension; of two on one, the outer first

  bool is_partial(size_t axis) const { return (partial >> axis & 1) != 0; }
  const AxisCut* cut_of(size_t axis) const;  // null: none
  bool is_whole() const { return cuts.empty() && partial == 0; }
  // Innermost of its dimension.
  void add(AxisCut cut);
  void remove(size_t axis);
  friend bool operator==(const Layout&, const Layout&) = default;
};

// The axes that layouts are over, and the sets of ranks on which lines run.
class Cluster {
 public:
  // Of all axes of a mesh, and the set of all its ranks.
  explicit Cluster(const Mesh& mesh);
  // Of axes of a grid, flattened ones or not, and the grid's ranks alone.
  // Error: an axis that it lacks.
  static Result<Cluster> make(const Grid& grid,
                              const std::vector<std::string>& axes);

  size_t axes() const { return axes_.size(); }
  const std::string& axis_name(size_t axis) const { return axes_[axis].name; }
  // Its index; axes() of an unknown name.
  size_t axis_index(std::string_view name) const;

  // The index of a set, which is added.
  uint32_t set_of(const Ranks& ranks);
  const Ranks& ranks(uint32_t set) const { return sets_[set].ranks; }
  const std::string& ranks_text(uint32_t set) const { return sets_[set].text; }
  // Coordinates of the axis that occur in the set.
  int64_t count(uint32_t set, size_t axis) const {
    return sets_[set].counts[axis];
  }
  bool has_same_form(uint32_t a, uint32_t b) const {
    return sets_[a].counts == sets_[b].counts &&
           sets_[a].ranks.size() == sets_[b].ranks.size();
  }

  // "dp:0,tp:1*64", as split= says it; "" when nothing is cut.
  std::string split_text(const Layout& layout) const;
  // "dp:S0,tp:P" of the axes on which the set extends; "R" when all are.
  std::string describe(const Layout& layout) const;
  // Sizes of the parts of a dimension, by place among the ranks that cut it.
  std::vector<int64_t> part_sizes(const Layout& layout, int32_t dim,
                                  int64_t size) const;
  // Every cut's unit divides what there is to cut.
  bool can_cut(const Layout& layout, const Shape& whole) const;
  // All ranks hold as much of the dimension.
  bool is_even(const Layout& layout, int32_t dim, int64_t size) const;
  // Of the largest piece.
  double piece_bytes(const Layout& layout, const Type& whole) const;
  // Of the set's ranks, in their order.
  std::vector<uint64_t> bytes_of_pieces(const Layout& layout,
                                        const Type& whole) const;
  // Whether both cut a dimension of this size at the same places.
  bool is_same_cut(const Layout& a, const Layout& b, int32_t dim,
                   int64_t size) const;
  // The layout with units that say as much as they need: one that cuts where
  // unit 1 does becomes 1.
  Layout simplest(Layout layout, const Shape& whole) const;

 private:
  struct Set {
    Ranks ranks;
    std::string text;
    std::vector<int64_t> counts;
  };
  Cluster() = default;

  std::vector<MeshAxis> axes_;
  std::vector<Set> sets_;
};

}  // namespace gt
