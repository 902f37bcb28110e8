#include "check/stated_cut.h"

#include <numeric>

#include "spmd/split.h"

namespace gt {
namespace {

std::string split_text(const SpmdType& type, const AxisNames& names,
                       const Shape& units) {
  std::string text;
  for (size_t d = 0; d < type.spec.size(); ++d) {
    for (const Axis& axis : type.spec[d]) {
      text += (text.empty() ? "" : ",") + names.name(axis) + ":" +
              std::to_string(d);
      if (units[d] > 1) text += "*" + std::to_string(units[d]);
    }
  }
  return text;
}

// The parts that a split= gives to the ranks, if it is one.
std::vector<Region> regions_of(const std::string& text, const Shape& whole,
                               const Grid& grid) {
  const auto split = parse_split(text);
  if (!split.ok()) return {};
  auto regions = cut(split.value(), whole, grid);
  return regions.ok() ? std::move(regions.value()) : std::vector<Region>{};
}

const Shape& piece_on(const ShardedValue& value, int64_t rank) {
  return value.pieces[position_of(rank, value.ranks)].shape;
}

// Of each dimension the unit in which it is cut: 1 where that gives the pieces,
// else the largest that all pieces are multiples of.
Shape units_of(const ShardedValue& value, const std::vector<Region>& by_ones,
               const Ranks& ranks) {
  Shape units = value.pieces[0].shape;
  for (size_t d = 0; d < units.size(); ++d) {
    bool fits = true;
    int64_t unit = 0;
    for (size_t p = 0; p < ranks.size(); ++p) {
      const int64_t size = piece_on(value, ranks[p])[d];
      unit = std::gcd(unit, size);
      fits = fits && by_ones[p].count[d] == size;
    }
    units[d] = fits ? 1 : unit;
  }
  return units;
}

}  // namespace

std::optional<StatedCut> stated_cut(const ShardedValue& value,
                                    const Ranks& ranks, const Mesh* mesh) {
  if (mesh == nullptr || !value.type.is_sharded()) return std::nullopt;
  const auto whole = whole_of(value);
  const auto grid = Grid::make(mesh, ranks);
  if (!whole.has_value() || !grid.ok()) return std::nullopt;
  const AxisNames names(std::vector<const Mesh*>{mesh});
  Shape units = whole->shape;
  for (size_t d = 0; d < units.size(); ++d) units[d] = 1;
  StatedCut out{whole->shape, split_text(value.type, names, units)};
  std::vector<Region> regions = regions_of(out.split, out.whole, grid.value());
  if (regions.empty()) return std::nullopt;
  out.split = split_text(value.type, names, units_of(value, regions, ranks));
  regions = regions_of(out.split, out.whole, grid.value());
  if (regions.empty()) return std::nullopt;
  for (size_t p = 0; p < ranks.size(); ++p) {
    if (!(regions[p].count == piece_on(value, ranks[p]))) return std::nullopt;
  }
  return out;
}

}  // namespace gt
