// The types of a line with ranks, for gt-emit. Two types are kept for each
// value. The global type is what gt-check(1) would find, which follows the
// dimensions that axes shard. The other consists of the letters that the local
// rules alone give; it is used where the global type is not known or has
// faults.
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
  // For each result, the axes on which it is a sum still to be taken because a
  // sharded dimension was contracted. The local rules give only V there, so a
  // note (#partial=) must say it.
  std::vector<Placement> summed;
};

// Returns the types of a line. `operands` has the type of each operand that is
// a name, else null. Error: the shapes do not fit together.
Result<LineTypes> line_types(const Line& line, const LineRanks& where,
                             const AxisNames& names,
                             std::span<const PlacedType* const> operands);

// Returns the type as gt-check represents it (spmd/sharded_value.h).
ShardedValue sharded_value(const PlacedType& type);

// A value on some of its ranks.
struct ReadPart {
  const PlacedType* type;
  const Ranks* ranks;
};
// Returns what such parts are together on each axis; nothing if that is not
// known.
std::optional<Placement> joined_type(std::span<const ReadPart> parts,
                                     const Mesh* mesh);

// Returns how split= says that the value's pieces are cut on these ranks.
// Returns nothing if it is not cut, if no split= gives such a cut, or if its
// global type is not known.
std::optional<StatedCut> stated_cut(const PlacedType& type, const Ranks& ranks,
                                    const Mesh* mesh);

}  // namespace gt::grad
