// split=: how a whole tensor is cut over the ranks of a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/mesh.h"
#include "stream/type.h"

namespace gt {

// "tp:1*64": dimension 1 over axis tp, in units of 64.
struct SplitEntry {
  std::string axis;  // "dp+tp" cuts over both, dp outer
  int64_t dim = 0;   // negative from the end
  int64_t unit = 1;
};

// "dp:0,tp:1": one after the other; of two on one dimension the first is outer.
Result<std::vector<SplitEntry>> parse_split(std::string_view text);
std::string to_string(const std::vector<SplitEntry>& split);

// Part i of n over k, in units: the first n/unit mod k are one unit longer.
struct Extent {
  int64_t start = 0;
  int64_t count = 0;
};
Extent extent_of(int64_t n, int64_t unit, int64_t k, int64_t i);

// What one rank holds of the whole.
struct Region {
  Shape start;
  Shape count;
  friend bool operator==(const Region&, const Region&) = default;
};

// By position in the grid. Errors: a dimension or axis that is not there, an
// axis twice, a size that is no multiple of its unit.
Result<std::vector<Region>> cut(const std::vector<SplitEntry>& split,
                                const Shape& whole, const Grid& grid);

// The whole that these pieces are cut from, which must fit the split exactly.
Result<Shape> whole_of(const std::vector<SplitEntry>& split,
                       const std::vector<Shape>& pieces, const Grid& grid);

}  // namespace gt
