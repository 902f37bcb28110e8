#include "spmd/layout.h"

#include <algorithm>
#include <set>

#include "stream/ranks.h"

namespace gt {

const AxisCut* Layout::cut_of(size_t axis) const {
  const auto it = std::find_if(cuts.begin(), cuts.end(), [&](const AxisCut& c) {
    return c.axis == axis;
  });
  return it == cuts.end() ? nullptr : &*it;
}

void Layout::add(AxisCut cut) {
  const auto after =
      std::find_if(cuts.begin(), cuts.end(),
                   [&](const AxisCut& c) { return c.dim > cut.dim; });
  cuts.insert(after, cut);
}

void Layout::remove(size_t axis) {
  std::erase_if(cuts, [&](const AxisCut& c) { return c.axis == axis; });
}

Cluster::Cluster(const Mesh& mesh) : axes_(mesh.axes()) {
  Ranks all;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) all.push_back(rank);
  set_of(all);
}

Result<Cluster> Cluster::make(const Grid& grid,
                              const std::vector<std::string>& axes) {
  if (axes.size() > Mesh::kMaxAxes) {
    return Error{"over " + std::to_string(Mesh::kMaxAxes) + " axes at once"};
  }
  Cluster cluster;
  Set all{grid.ranks(), to_string(grid.ranks()), {}};
  for (const std::string& name : axes) {
    const auto along = grid.along(name);
    if (!along.ok()) return along.error();
    cluster.axes_.push_back({{along.value().count, 1}, name});
    all.counts.push_back(along.value().count);
  }
  cluster.sets_.push_back(std::move(all));
  return cluster;
}

size_t Cluster::axis_index(std::string_view name) const {
  size_t i = 0;
  while (i < axes() && axis_name(i) != name) ++i;
  return i;
}

bool Cluster::is_within(uint32_t axes, int64_t n) const {
  for (size_t a = 0; a < axes_.size(); ++a) {
    if ((axes >> a & 1) != 0 && !axes_[a].is_within(n)) return false;
  }
  return true;
}

uint32_t Cluster::set_of(const Ranks& ranks) {
  for (size_t i = 0; i < sets_.size(); ++i) {
    if (sets_[i].ranks == ranks) return static_cast<uint32_t>(i);
  }
  Set set{ranks, to_string(ranks), {}};
  for (const MeshAxis& axis : axes_) {
    std::set<int64_t> coordinates;
    for (const int64_t rank : ranks) {
      coordinates.insert(rank / axis.stride % axis.size);
    }
    set.counts.push_back(static_cast<int64_t>(coordinates.size()));
  }
  // Ranks that are no grid of the mesh can hold whole values only.
  int64_t grid = 1;
  for (const int64_t count : set.counts) grid *= count;
  if (grid != static_cast<int64_t>(ranks.size())) {
    set.counts.assign(set.counts.size(), 1);
  }
  sets_.push_back(std::move(set));
  return static_cast<uint32_t>(sets_.size() - 1);
}

std::string Cluster::split_text(const Layout& layout) const {
  std::string out;
  for (const AxisCut& cut : layout.cuts) {
    out += (out.empty() ? "" : ",") + axis_name(cut.axis) + ":" +
           std::to_string(cut.dim);
    if (cut.unit != 1) out += "*" + std::to_string(cut.unit);
  }
  return out;
}

std::string Cluster::describe(const Layout& layout) const {
  std::string out;
  for (size_t a = 0; a < axes(); ++a) {
    if (count(layout.set, a) == 1) continue;
    const AxisCut* cut = layout.cut_of(a);
    if (cut == nullptr && !layout.is_partial(a)) continue;
    out += (out.empty() ? "" : ",") + axis_name(a) + ":" +
           (cut == nullptr ? "P" : "S" + std::to_string(cut->dim));
  }
  if (out.empty()) out = "R";
  return layout.set == 0 ? out : out + "@" + ranks_text(layout.set);
}

std::vector<int64_t> Cluster::part_sizes(const Layout& layout, int32_t dim,
                                         int64_t size) const {
  std::vector<int64_t> sizes{size};
  for (const AxisCut& cut : layout.cuts) {
    if (cut.dim != dim) continue;
    const int64_t k = count(layout.set, cut.axis);
    std::vector<int64_t> finer;
    for (const int64_t n : sizes) {
      for (int64_t i = 0; i < k; ++i) {
        finer.push_back(extent_of(n, cut.unit, k, i).count);
      }
    }
    sizes = std::move(finer);
  }
  return sizes;
}

bool Cluster::can_cut(const Layout& layout, const Shape& whole) const {
  Layout outer{layout.set, 0, {}};
  for (const AxisCut& cut : layout.cuts) {
    if (cut.unit != 1) {
      for (const int64_t n :
           part_sizes(outer, cut.dim, whole[static_cast<size_t>(cut.dim)])) {
        if (n % cut.unit != 0) return false;
      }
    }
    outer.cuts.push_back(cut);
  }
  return true;
}

bool Cluster::try_cut(Layout& layout, const AxisCut& cut,
                      const Shape& whole) const {
  Layout finer = layout;
  finer.add(cut);
  if (!can_cut(finer, whole)) return false;
  layout = std::move(finer);
  return true;
}

bool Cluster::is_even(const Layout& layout, int32_t dim, int64_t size) const {
  const std::vector<int64_t> sizes = part_sizes(layout, dim, size);
  return std::all_of(sizes.begin(), sizes.end(),
                     [&](int64_t n) { return n == sizes[0]; });
}

Shape Cluster::piece(const Layout& layout, const Shape& whole,
                     bool is_last) const {
  Shape piece = whole;
  for (const AxisCut& cut : layout.cuts) {
    int64_t& n = piece[static_cast<size_t>(cut.dim)];
    const int64_t parts = count(layout.set, cut.axis);
    n = extent_of(n, cut.unit, parts, is_last ? parts - 1 : 0).count;
  }
  return piece;
}

double Cluster::piece_bytes(const Layout& layout, const Type& whole) const {
  const Shape largest = piece(layout, whole.shape, false);
  return static_cast<double>(largest.elements()) *
         static_cast<double>(size_of(whole.dtype));
}

// Moves on to the coordinates that the next rank of the set has in it.
void Cluster::step(std::vector<int64_t>& at, const Set& set) {
  for (size_t a = at.size(); a-- > 0;) {
    if (++at[a] < set.counts[a]) return;
    at[a] = 0;
  }
}

std::vector<Shape> Cluster::pieces(const Layout& layout,
                                   const Type& whole) const {
  const Set& set = sets_[layout.set];
  const Shape largest = piece(layout, whole.shape, false);
  if (piece(layout, whole.shape, true) == largest) return {largest};
  std::vector<Shape> pieces(set.ranks.size(), whole.shape);
  std::vector<int64_t> at(axes());
  for (Shape& piece : pieces) {
    for (const AxisCut& cut : layout.cuts) {
      int64_t& n = piece[static_cast<size_t>(cut.dim)];
      n = extent_of(n, cut.unit, set.counts[cut.axis], at[cut.axis]).count;
    }
    step(at, set);
  }
  return pieces;
}

int64_t Cluster::members(uint32_t set, uint32_t axes) const {
  int64_t n = 1;
  for (size_t a = 0; a < this->axes(); ++a) {
    if ((axes >> a & 1) != 0) n *= count(set, a);
  }
  return n;
}

std::vector<int64_t> Cluster::places(uint32_t set, uint32_t axes) const {
  std::vector<int64_t> places(sets_[set].ranks.size());
  std::vector<int64_t> at(this->axes());
  for (int64_t& place : places) {
    for (size_t a = 0; a < at.size(); ++a) {
      if ((axes >> a & 1) != 0) place = place * count(set, a) + at[a];
    }
    step(at, sets_[set]);
  }
  return places;
}

bool Cluster::is_same_cut(const Layout& a, const Layout& b, int32_t dim,
                          int64_t size) const {
  std::vector<uint32_t> of_a, of_b;
  for (const AxisCut& c : a.cuts) {
    if (c.dim == dim) of_a.push_back(c.axis);
  }
  for (const AxisCut& c : b.cuts) {
    if (c.dim == dim) of_b.push_back(c.axis);
  }
  return of_a == of_b && part_sizes(a, dim, size) == part_sizes(b, dim, size);
}

Layout Cluster::simplest(Layout layout, const Shape& whole) const {
  for (AxisCut& cut : layout.cuts) {
    if (cut.unit == 1) continue;
    Layout plain = layout;
    for (AxisCut& other : plain.cuts) {
      if (other.dim == cut.dim && other.axis == cut.axis) other.unit = 1;
    }
    const int64_t size = whole[static_cast<size_t>(cut.dim)];
    if (part_sizes(plain, cut.dim, size) == part_sizes(layout, cut.dim, size)) {
      cut.unit = 1;
    }
  }
  return layout;
}

}  // namespace gt
