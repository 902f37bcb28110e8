// The groups of a line that crosses ranks (a collective, a conversion, or a
// copy to other ranks), each with what it does: what an ExchangePlan is made
// from.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "spmd/group_form.h"
#include "spmd/placed.h"

namespace gt {

// One group.
struct Crossing {
  uint32_t index = 0;  // of the group, in the order of their coordinates
  std::vector<int64_t> sources;  // the ranks whose pieces are read
  std::vector<int64_t> targets;  // the ranks that get results
  std::vector<Type> pieces;      // the types of the sources' pieces
  GroupForm form;
};

// The groups that have a wanted rank (an empty filter wants all). `types` is
// not asked for pieces of the other groups. Errors: those of Grid::groups() and
// group_form().
using RankFilter = std::function<bool(int64_t rank)>;
Result<std::vector<Crossing>> crossings(const Line& line,
                                        const LineRanks& where,
                                        const Grid& grid,
                                        const PieceType& types,
                                        const RankFilter& wanted);

}  // namespace gt
