// The types of a line with ranks, for gt-emit. Two are kept of each value: what
// gt-check(1) would find, which follows the dimensions that axes shard
// (global), and what the local rules alone say, by letters. Where the first is
// not known or has faults, the second goes on.
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
  // Of each result, the axes on which it is a sum still to be taken because a
  // sharded dimension was contracted. By the local rules it is only V there, so
  // that a note (#partial=) must say it.
  std::vector<Placement> summed;
};

// `operands`: of each operand that is a name its type, else null. Error: shapes
// do not go together.
Result<LineTypes> line_types(const Line& line, const LineRanks& where,
                             const AxisNames& names,
                             std::span<const PlacedType* const> operands);

// The same as gt-check has it (spmd/sharded_value.h).
ShardedValue sharded_value(const PlacedType& type);

// The names of the mesh's axes; the mesh may be null.
AxisNames names_of(const Mesh* mesh);

// A value on some of its ranks.
struct ReadPart {
  const PlacedType* type;
  const Ranks* ranks;
};
// What such parts are together on each axis; nothing if that is not known.
std::optional<Placement> joined_type(std::span<const ReadPart> parts,
                                     const Mesh* mesh);

// How split= says that the value's pieces are cut on these ranks. Nothing if it
// is not cut, if no split= says such a cut, or if its global type is not known.
std::optional<StatedCut> stated_cut(const PlacedType& type, const Ranks& ranks,
                                    const Mesh* mesh);

}  // namespace gt::grad
