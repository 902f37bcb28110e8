// Divides a line that crosses ranks (a collective, a conversion, or a copy to
// other ranks) into groups, each with what it does. An ExchangePlan is made
// from such a group.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "spmd/group_form.h"
#include "spmd/placed.h"

namespace gt {

// One group of ranks of a line that crosses ranks.
struct Crossing {
  uint32_t index = 0;  // the group's number, in the order of coordinates
  std::vector<int64_t> sources;  // the ranks whose pieces are read
  std::vector<int64_t> targets;  // the ranks that get results
  std::vector<Type> pieces;      // the types of the sources' pieces
  GroupForm form;
};

// Returns the groups that have a wanted rank (an empty filter wants all).
// `types` is not called for pieces of the other groups. Errors: those of
// Grid::groups() and group_form().
using RankFilter = std::function<bool(int64_t rank)>;
Result<std::vector<Crossing>> crossings(const Line& line,
                                        const LineRanks& where,
                                        const Grid& grid,
                                        const PieceType& types,
                                        const RankFilter& wanted);

}  // namespace gt
