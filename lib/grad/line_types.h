// What a placed line gives on each axis: as gt-check(1) follows shards, where
// that is known, else by the local rules alone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "grad/value_types.h"
#include "spmd/axis_names.h"
#include "spmd/placed.h"
#include "spmd/stated_cut.h"

namespace gt::grad {

struct LineTypes {
  std::vector<PlacedType> results;
  // Of each result, the axes on which it is a sum by its operands' shards, and
  // unrelated values to those who do not follow shards: notes tell them.
  std::vector<Placement> summed;
};

// `operands`: of names; else null. Error: shapes do not go together.
Result<LineTypes> line_types(const Line& line, const LineRanks& where,
                             const AxisNames& names,
                             std::span<const PlacedType* const> operands);

// The pieces by rank, as gt-check knows them.
ShardedValue sharded_value(const PlacedType& type);

// Of the mesh alone; it may be null.
AxisNames names_of(const Mesh* mesh);

// A value on some of its ranks.
struct ReadPart {
  const PlacedType* type;
  const Ranks* ranks;
};
// What such parts are together; nothing if that is not known.
std::optional<Placement> joined_type(std::span<const ReadPart> parts,
                                     const Mesh* mesh);

// Nothing of what is not cut, or as no split= over these ranks cuts it, or of
// which it is not known.
std::optional<StatedCut> stated_cut(const PlacedType& type, const Ranks& ranks,
                                    const Mesh* mesh);

}  // namespace gt::grad
