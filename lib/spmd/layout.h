// Layouts: how a value is distributed, in the form in which gt-shard and
// redistribution.h search and price distributions. A Layout is a set of ranks,
// and for each axis of the mesh: copies (R), a cut dimension (S), or partial
// sums (P). It is compact: axes and rank sets are indices into a Cluster, and
// it means nothing without that.
//
// The type checker uses another form, a Placement (placement.h). That also
// distinguishes I and V, identifies axes by size and stride rather than by an
// index, and says nothing of ranks or sizes. A ShardedValue (sharded_value.h)
// is a Placement with the ranks and the types of the pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/mesh.h"
#include "spmd/rank_set.h"
#include "spmd/split.h"
#include "stream/type.h"

namespace gt {

// Says that one axis cuts one dimension, as an entry of split= does (split.h).
struct AxisCut {
  uint32_t axis = 0;  // its index in the Cluster
  int32_t dim = 0;
  int64_t unit = 1;  // parts are multiples of this many indices
  friend bool operator==(const AxisCut&, const AxisCut&) = default;
};

struct Layout {
  uint32_t set = 0;      // the set's index in the Cluster; 0: all its ranks
  uint32_t partial = 0;  // a bit for each axis of partial sums
  // The cuts, by dimension; of two cuts of one dimension the outer comes first.
  // An axis that neither cuts nor is partial has copies.
  std::vector<AxisCut> cuts;

  bool is_partial(size_t axis) const { return (partial >> axis & 1) != 0; }
  const AxisCut* cut_of(size_t axis) const;  // null: it cuts nothing
  // True if every rank of the set holds the whole value.
  bool is_whole() const { return cuts.empty() && partial == 0; }
  // Adds a cut, as the innermost of its dimension.
  void add(AxisCut cut);
  void remove(size_t axis);
  friend bool operator==(const Layout&, const Layout&) = default;
};

// The axes and the rank sets that the indices in Layouts stand for, and
// functions that need them. `whole` is always the type or shape of the whole
// value, `size` the size of one of its dimensions.
class Cluster {
 public:
  // Takes all axes of a mesh, and the set of all its ranks.
  explicit Cluster(const Mesh& mesh);
  // Takes some axes of a grid (named as in over=, "tp" or "dp+tp"), and the set
  // of the grid's ranks. Error: an axis that the grid's mesh lacks.
  static Result<Cluster> make(const Grid& grid,
                              const std::vector<std::string>& axes);

  size_t axes() const { return axes_.size(); }
  const std::string& axis_name(size_t axis) const { return axes_[axis].name; }
  // Returns the index of the axis, or axes() if the name is unknown.
  size_t axis_index(std::string_view name) const;

  // True if ranks that differ along these axes alone, a bit for each, are among
  // the same n: ranks 0 to n - 1, or n to 2 n - 1, ...
  bool is_within(uint32_t axes, int64_t n) const;

  // Returns the index of a set of ranks, which is added if it is new.
  uint32_t set_of(const Ranks& ranks);
  const Ranks& ranks(uint32_t set) const { return sets_[set].ranks; }
  const std::string& ranks_text(uint32_t set) const { return sets_[set].text; }
  // Returns how many coordinates along the axis occur in the set. It is 1 for
  // all axes of a set that is no grid of the mesh: such a set can hold whole
  // values only.
  int64_t count(uint32_t set, size_t axis) const {
    return sets_[set].counts[axis];
  }
  // True if two sets have as many ranks along each axis, so that pieces can be
  // copied from one to the other rank by rank.
  bool has_same_form(uint32_t a, uint32_t b) const {
    return sets_[a].counts == sets_[b].counts &&
           sets_[a].ranks.size() == sets_[b].ranks.size();
  }

  // Returns the value of split=, "dp:0,tp:1*64"; "" if nothing is cut.
  std::string split_text(const Layout& layout) const;
  // Returns the layout as messages show it: "dp:S0,tp:P", without axes that
  // have copies, or "R" if all have; followed by "@RANKS" if the set is not
  // that of index 0.
  std::string describe(const Layout& layout) const;
  // Returns the sizes of the parts into which a dimension is cut, in their
  // order.
  std::vector<int64_t> part_sizes(const Layout& layout, int32_t dim,
                                  int64_t size) const;
  // True if the unit of every cut divides each size that it cuts.
  bool can_cut(const Layout& layout, const Shape& whole) const;
  // Cuts the layout further. Returns false, and leaves it as it was, if its
  // parts cannot be cut so.
  bool try_cut(Layout& layout, const AxisCut& cut, const Shape& whole) const;
  // True if all parts of the dimension have one size.
  bool is_even(const Layout& layout, int32_t dim, int64_t size) const;
  // Returns the shape of the first piece, which is the largest, or of the last
  // one, which is the smallest; and the bytes of the largest.
  Shape piece(const Layout& layout, const Shape& whole, bool is_last) const;
  double piece_bytes(const Layout& layout, const Type& whole) const;
  // Returns the shape of each piece, in the order of the set's ranks; or only
  // one if all are equal.
  std::vector<Shape> pieces(const Layout& layout, const Type& whole) const;
  // Returns how many ranks the groups have in which a collective over these
  // axes (a bit for each) divides the set, and the place of each rank of the
  // set in its group.
  int64_t members(uint32_t set, uint32_t axes) const;
  std::vector<int64_t> places(uint32_t set, uint32_t axes) const;
  // True if both layouts cut the dimension over the same axes into the same
  // parts.
  bool is_same_cut(const Layout& a, const Layout& b, int32_t dim,
                   int64_t size) const;
  // Returns the same layout with unit 1 for each cut for which that makes no
  // difference.
  Layout simplest(Layout layout, const Shape& whole) const;

 private:
  struct Set {
    Ranks ranks;
    std::string text;
    std::vector<int64_t> counts;
  };
  Cluster() = default;
  static void step(std::vector<int64_t>& at, const Set& set);

  std::vector<MeshAxis> axes_;
  std::vector<Set> sets_;
};

}  // namespace gt
