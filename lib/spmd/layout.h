// Layouts: how a value is distributed, in the form in which distributions are
// searched and priced (gt-shard, redistribution.h). A Layout is a set of ranks,
// and for each axis of the mesh: copies (R), a cut dimension (S), or partial
// sums (P). It is compact, axes and rank sets being indices into a Cluster, and
// means nothing without that.
//
// The type checker uses another form: a Placement (placement.h) also tells I
// and V, names axes by what they are rather than by an index, and says nothing
// of ranks or sizes. A ShardedValue (sharded_value.h) is a Placement with the
// ranks and the types of the pieces.
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

// One axis cuts one dimension, as an entry of split= says (split.h).
struct AxisCut {
  uint32_t axis = 0;  // its index in the Cluster
  int32_t dim = 0;
  int64_t unit = 1;  // parts are multiples of so many indices
  friend bool operator==(const AxisCut&, const AxisCut&) = default;
};

struct Layout {
  uint32_t set = 0;      // index of a rank set in the Cluster; 0: all its ranks
  uint32_t partial = 0;  // a bit for each axis along which it is partial sums
  // By dimension; of two on one dimension the outer first. An axis that neither
  // cuts nor is partial has copies.
  std::vector<AxisCut> cuts;

  bool is_partial(size_t axis) const { return (partial >> axis & 1) != 0; }
  const AxisCut* cut_of(size_t axis) const;  // null: it cuts nothing
  // Whether every rank of the set holds the whole value.
  bool is_whole() const { return cuts.empty() && partial == 0; }
  // Adds a cut, as the innermost of its dimension.
  void add(AxisCut cut);
  void remove(size_t axis);
  friend bool operator==(const Layout&, const Layout&) = default;
};

// The axes and the rank sets that the indices in Layouts stand for, and what
// depends on both. `whole` is always the type or shape of the whole value,
// `size` that of one of its dimensions.
class Cluster {
 public:
  // All axes of a mesh, and the set of all its ranks.
  explicit Cluster(const Mesh& mesh);
  // Some axes of a grid (named as in over=, "tp" or "dp+tp"), and the set of
  // the grid's ranks. Error: an axis that the grid's mesh lacks.
  static Result<Cluster> make(const Grid& grid,
                              const std::vector<std::string>& axes);

  size_t axes() const { return axes_.size(); }
  const std::string& axis_name(size_t axis) const { return axes_[axis].name; }
  // The index of the axis; axes() if the name is unknown.
  size_t axis_index(std::string_view name) const;

  // The index of a set of ranks, which is added if it is new.
  uint32_t set_of(const Ranks& ranks);
  const Ranks& ranks(uint32_t set) const { return sets_[set].ranks; }
  const std::string& ranks_text(uint32_t set) const { return sets_[set].text; }
  // How many coordinates along the axis occur in the set; 1 for all axes of a
  // set that is no grid of the mesh, on which only whole values live.
  int64_t count(uint32_t set, size_t axis) const {
    return sets_[set].counts[axis];
  }
  // Whether two sets have as many ranks along each axis, so that pieces can be
  // copied from one to the other rank by rank.
  bool has_same_form(uint32_t a, uint32_t b) const {
    return sets_[a].counts == sets_[b].counts &&
           sets_[a].ranks.size() == sets_[b].ranks.size();
  }

  // The value of split=, "dp:0,tp:1*64"; "" if nothing is cut.
  std::string split_text(const Layout& layout) const;
  // For messages: "dp:S0,tp:P", without axes that have copies; "R" if all have;
  // "@RANKS" behind it if the set is not that of index 0.
  std::string describe(const Layout& layout) const;
  // The sizes of the parts into which a dimension is cut, in their order.
  std::vector<int64_t> part_sizes(const Layout& layout, int32_t dim,
                                  int64_t size) const;
  // Whether the unit of every cut divides each size that it cuts.
  bool can_cut(const Layout& layout, const Shape& whole) const;
  // Cuts the layout further, or leaves it and returns false if its parts cannot
  // be cut so.
  bool try_cut(Layout& layout, const AxisCut& cut, const Shape& whole) const;
  // Whether all parts of the dimension have one size.
  bool is_even(const Layout& layout, int32_t dim, int64_t size) const;
  // The bytes of the largest piece.
  double piece_bytes(const Layout& layout, const Type& whole) const;
  // The bytes of each piece, in the order of the set's ranks.
  std::vector<uint64_t> bytes_of_pieces(const Layout& layout,
                                        const Type& whole) const;
  // Whether both layouts cut the dimension over the same axes into the same
  // parts.
  bool is_same_cut(const Layout& a, const Layout& b, int32_t dim,
                   int64_t size) const;
  // The same layout with unit 1 for each cut for which that makes no
  // difference.
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
