#include "spmd/stated_cut.h"

#include <numeric>

#include "spmd/axis_names.h"
#include "spmd/split.h"

namespace gt {
namespace {

// If more axes than this cut one dimension, only the two usual ways are tried:
// each axis by itself, or all of them as one.
constexpr size_t kMostGrouped = 6;

using Entries = std::vector<SplitEntry>;

// Makes the entries; consecutive axes are one entry if the bit between them is
// set in `joins`.
Entries grouped(const SpecEntry& axes, const AxisNames& names, size_t joins) {
  Entries entries;
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::string name = names.name(axes[i]);
    if (i > 0 && (joins >> (i - 1) & 1) != 0) {
      entries.back().axis += "+" + name;
    } else {
      entries.push_back({name, 0, 1});
    }
  }
  return entries;
}

// The parts that the first `level` entries make of a dimension: where each
// rank's part stands among them, and how long each part is.
struct CutParts {
  std::vector<uint32_t> index;  // by position in the grid
  std::vector<int64_t> sizes;
};

Grid::Along along(const Entries& entries, size_t level, const Grid& grid) {
  std::string over;
  for (size_t e = 0; e < level; ++e) {
    over += (over.empty() ? "" : "+") + entries[e].axis;
  }
  auto found = grid.along(over);
  if (!over.empty() && found.ok()) return std::move(found.value());
  return {std::vector<uint32_t>(grid.size(), 0), 1};
}

CutParts parts_at(const Entries& entries, size_t level,
                  const std::vector<int64_t>& sizes, const Grid& grid) {
  const Grid::Along all = along(entries, entries.size(), grid);
  Grid::Along here = along(entries, level, grid);
  CutParts parts{std::move(here.index), std::vector<int64_t>(here.count, 0)};
  std::vector<bool> is_counted(all.count, false);
  for (size_t p = 0; p < sizes.size(); ++p) {
    if (is_counted[all.index[p]]) continue;
    is_counted[all.index[p]] = true;
    parts.sizes[parts.index[p]] += sizes[p];
  }
  return parts;
}

// Returns the unit in which an entry cuts: 1 if that gives the parts, else the
// largest of which all of them are multiples.
int64_t unit_at(const Entries& entries, size_t e,
                const std::vector<int64_t>& sizes, const Grid& grid) {
  const CutParts outer = parts_at(entries, e, sizes, grid);
  const CutParts inner = parts_at(entries, e + 1, sizes, grid);
  const Grid::Along own = along({entries[e]}, 1, grid);
  int64_t unit = 0;
  bool fits = true;
  for (size_t p = 0; p < sizes.size(); ++p) {
    const int64_t size = inner.sizes[inner.index[p]];
    unit = std::gcd(unit, size);
    const Extent part =
        extent_of(outer.sizes[outer.index[p]], 1, own.count, own.index[p]);
    fits = fits && part.count == size;
  }
  return fits || unit == 0 ? 1 : unit;
}

// Returns how the axes cut a dimension into the sizes that the ranks have.
std::optional<Entries> entries_of(const SpecEntry& axes, const AxisNames& names,
                                  const std::vector<int64_t>& sizes,
                                  int64_t whole, const Grid& grid) {
  if (axes.empty()) return Entries{};
  const size_t all = (size_t{1} << (axes.size() - 1)) - 1;
  const size_t step = axes.size() > kMostGrouped ? all : 1;
  for (size_t joins = 0; joins <= all; joins += step) {
    Entries entries = grouped(axes, names, joins);
    for (size_t e = 0; e < entries.size(); ++e) {
      entries[e].unit = unit_at(entries, e, sizes, grid);
    }
    const auto regions = cut(entries, Shape{whole}, grid);
    bool fits = regions.ok();
    for (size_t p = 0; fits && p < sizes.size(); ++p) {
      fits = regions.value()[p].count[0] == sizes[p];
    }
    if (fits) return entries;
  }
  return std::nullopt;
}

}  // namespace

std::optional<StatedCut> stated_cut(const ShardedValue& value,
                                    const Ranks& ranks, const Mesh* mesh) {
  if (mesh == nullptr || !value.type.is_sharded()) return std::nullopt;
  const auto whole = whole_of(value);
  const auto grid = Grid::make(mesh, ranks);
  if (!whole.has_value() || !grid.ok()) return std::nullopt;
  const AxisNames names(mesh);
  Entries split;
  for (size_t d = 0; d < value.type.spec.size(); ++d) {
    std::vector<int64_t> sizes;
    for (const int64_t rank : ranks) {
      sizes.push_back(value.pieces[position_of(rank, value.ranks)].shape[d]);
    }
    const auto entries = entries_of(value.type.spec[d], names, sizes,
                                    whole->shape[d], grid.value());
    if (!entries) return std::nullopt;
    for (SplitEntry entry : *entries) {
      entry.dim = static_cast<int64_t>(d);
      split.push_back(std::move(entry));
    }
  }
  return StatedCut{whole->shape, to_string(split)};
}

}  // namespace gt
