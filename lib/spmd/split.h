// The key split=, which states how a whole tensor is cut over the ranks of a
// line, and the parts that result.
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
  int64_t dim = 0;   // negative: from the end
  int64_t unit = 1;
};

// Reads "dp:0,tp:1*64". Of two entries for one dimension the first is the outer
// one. Error: the text is not of that form. Axes and dimensions are not
// checked.
Result<std::vector<SplitEntry>> parse_split(std::string_view text);
std::string to_string(const std::vector<SplitEntry>& split);

// The range of indices that a part has.
struct Extent {
  int64_t start = 0;
  int64_t count = 0;
};
// Returns part i of n indices cut into k parts, which are multiples of `unit`;
// n must be one, too. The first n/unit mod k parts are one unit longer than the
// others.
Extent extent_of(int64_t n, int64_t unit, int64_t k, int64_t i);

// The part of a whole that one rank holds: along each dimension `count` indices
// from `start` on.
struct Region {
  Shape start;
  Shape count;
  friend bool operator==(const Region&, const Region&) = default;
};

// Returns the parts of a whole that the ranks hold, by position in the grid.
// Errors: a dimension or axis that is not there, an axis twice, a size that is
// no multiple of its unit.
Result<std::vector<Region>> cut(const std::vector<SplitEntry>& split,
                                const Shape& whole, const Grid& grid);

// Does the inverse: returns the shape of the whole that these pieces, by
// position in the grid, are cut from. Errors: those of cut(); the pieces are
// not exactly what cut() makes of one whole.
Result<Shape> whole_of(const std::vector<SplitEntry>& split,
                       const std::vector<Shape>& pieces, const Grid& grid);

}  // namespace gt
