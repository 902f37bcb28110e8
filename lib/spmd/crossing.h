// The groups of a line that crosses ranks, with their forms: what an
// ExchangePlan writes programs from.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "spmd/group_form.h"
#include "spmd/placed.h"

namespace gt {

struct Crossing {
  uint32_t index = 0;  // of the group, in coordinate order
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  std::vector<Type> pieces;
  GroupForm form;
};

// Without groups that have no wanted rank (empty: all are wanted), whose types
// are not asked for.
using RankFilter = std::function<bool(int64_t rank)>;
Result<std::vector<Crossing>> crossings(const Line& line,
                                        const LineRanks& where,
                                        const Grid& grid,
                                        const PieceType& types,
                                        const RankFilter& wanted);

}  // namespace gt
