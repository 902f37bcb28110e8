#include "spmd/split.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "ops/call.h"

namespace gt {
namespace {

// Checks all axis names together, so that an axis that occurs twice is found,
// as in "dp:0,dp+tp:1".
Status check_axes(const std::vector<SplitEntry>& split, const Grid& grid) {
  std::string all;
  for (const SplitEntry& entry : split) {
    all += (all.empty() ? "" : "+") + entry.axis;
  }
  if (all.empty()) return ok_status();
  if (grid.mesh() == nullptr) {
    return grid.along(all).error();
  }
  const auto axes = grid.mesh()->resolve(all);
  return axes.ok() ? ok_status() : Status(axes.error());
}

}  // namespace

Result<std::vector<SplitEntry>> parse_split(std::string_view text) {
  std::vector<SplitEntry> split;
  const std::string_view all = text;
  const auto error = [all] {
    return Error{"split=" + excerpt(all) +
                 " is no list of axis:dimension such as dp:0,tp:1*64"};
  };
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon == 0) return error();
    SplitEntry entry;
    entry.axis = word.substr(0, colon);
    const std::string_view rest = word.substr(colon + 1);
    const size_t star = std::min(rest.find('*'), rest.size());
    if (!read_number(rest.substr(0, star), entry.dim)) return error();
    if (star < rest.size() &&
        (!read_number(rest.substr(star + 1), entry.unit) || entry.unit < 1)) {
      return error();
    }
    split.push_back(std::move(entry));
    if (comma == text.size()) return split;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const std::vector<SplitEntry>& split) {
  std::string text;
  for (const SplitEntry& e : split) {
    text += (text.empty() ? "" : ",") + e.axis + ":" + std::to_string(e.dim);
    if (e.unit != 1) text += "*" + std::to_string(e.unit);
  }
  return text;
}

Extent extent_of(int64_t n, int64_t unit, int64_t k, int64_t i) {
  const int64_t units = n / unit;
  const int64_t each = units / k;
  const int64_t longer = units % k;
  return {(i * each + std::min(i, longer)) * unit,
          (each + (i < longer ? 1 : 0)) * unit};
}

Result<std::vector<Region>> cut(const std::vector<SplitEntry>& split,
                                const Shape& whole, const Grid& grid) {
  if (Status s = check_axes(split, grid); !s.ok()) return s.error();
  Shape zeros;
  for (size_t i = 0; i < whole.size(); ++i) zeros.push_back(0);
  std::vector<Region> regions(grid.size(), Region{zeros, whole});
  for (const SplitEntry& entry : split) {
    const int64_t dim = normal_axis(entry.dim, whole.size());
    if (dim < 0) {
      return Error{"split= names dimension " + std::to_string(entry.dim) +
                   " of [" + to_string(whole) + "]"};
    }
    const auto d = static_cast<size_t>(dim);
    const auto along = grid.along(entry.axis);
    if (!along.ok()) return along.error();
    for (size_t p = 0; p < regions.size(); ++p) {
      Region& region = regions[p];
      if (region.count[d] % entry.unit != 0) {
        return Error{"split= cuts size " + std::to_string(region.count[d]) +
                     " of dimension " + std::to_string(d) + " in units of " +
                     std::to_string(entry.unit) + ", which do not divide it"};
      }
      const Extent part =
          extent_of(region.count[d], entry.unit, along.value().count,
                    along.value().index[p]);
      region.start[d] += part.start;
      region.count[d] = part.count;
    }
  }
  return regions;
}

Result<Shape> whole_of(const std::vector<SplitEntry>& split,
                       const std::vector<Shape>& pieces, const Grid& grid) {
  if (Status s = check_axes(split, grid); !s.ok()) return s.error();
  for (const Shape& piece : pieces) {
    if (piece.size() == pieces[0].size()) continue;
    return Error{"pieces [" + to_string(pieces[0]) + "] and [" +
                 to_string(piece) + "] differ in dimensions"};
  }
  Shape whole = pieces[0];
  for (size_t d = 0; d < whole.size(); ++d) {
    std::string over;
    for (const SplitEntry& entry : split) {
      if (normal_axis(entry.dim, whole.size()) != static_cast<int64_t>(d)) {
        continue;
      }
      over += (over.empty() ? "" : "+") + entry.axis;
    }
    if (over.empty()) continue;
    const auto along = grid.along(over);
    if (!along.ok()) return along.error();
    // Counts one piece for each place along the axes.
    std::vector<int64_t> sizes(along.value().count, -1);
    int64_t sum = 0;
    for (size_t p = 0; p < pieces.size(); ++p) {
      int64_t& size = sizes[along.value().index[p]];
      if (size < 0) sum += pieces[p][d];
      size = pieces[p][d];
    }
    whole[d] = sum;
  }
  const auto regions = cut(split, whole, grid);
  if (!regions.ok()) return regions.error();
  for (size_t p = 0; p < pieces.size(); ++p) {
    if (regions.value()[p].count == pieces[p]) continue;
    return Error{"the piece on rank " + std::to_string(grid.ranks()[p]) +
                 " is [" + to_string(pieces[p]) + "], but split= of [" +
                 to_string(whole) + "] gives it [" +
                 to_string(regions.value()[p].count) + "]"};
  }
  return whole;
}

}  // namespace gt
