// The op redistribute with src_spec= and dst_spec=: src_spec= says how the
// operand is cut, dst_spec= how the result is. gt-emit replaces such a line by
// lines over one axis each, which redistribution.h finds.
//
// Source: spmd_types 0.2 (meta-pytorch/spmd_types), which has such specs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/machine.h"
#include "spmd/mesh.h"
#include "spmd/move.h"
#include "spmd/placed.h"
#include "spmd/split.h"
#include "stream/line.h"

namespace gt {

// True if the line is such a redistribute, and not one with src= and dst=.
bool states_specs(const Line& line);

// Returns a spec "dp+tp,-" as the entries of the split= that means the same,
// dp:0,tp:0. Errors: entries for more or fewer than `dims` dimensions, an axis
// that the mesh lacks or that stands twice, no mesh.
Result<std::vector<SplitEntry>> parse_spec(std::string_view text,
                                           const Mesh* mesh, size_t dims);

// The two specs of a redistribute.
struct Specs {
  std::vector<SplitEntry> src;
  std::vector<SplitEntry> dst;
};
// Returns the specs of a line whose pieces have `dims` dimensions. Errors:
// those of parse_spec(); a spec is missing, or another key does not belong
// there.
Result<Specs> specs_of(const Line& line, const Mesh* mesh, size_t dims);

// Returns the types of the result's pieces, by position in the grid. Errors:
// those of specs_of(); the pieces are not what src_spec= makes of a whole.
Result<std::vector<Type>> redistributed(const Line& line, const Grid& grid,
                                        const PieceType& pieces);

// One of the lines that replace a redistribute. The keys in `line` are views
// into `keys`; all else in it views the line that it replaces.
struct RedistributionStep {
  Line line;
  MoveKeys keys;
};

// Returns the lines that replace a redistribute, all with its result's name and
// its notes. Notes that claim something about the result (#type=, #spec=), and
// the remark, stand on the last line only. Columns are those of the replaced
// line. letter(axis) must return the operand's letter on an axis that src_spec=
// does not name. The lines are the cheapest way from one layout to the other on
// that machine.
using LetterOn = std::function<char(const std::string& axis)>;
Result<std::vector<RedistributionStep>> redistribution_steps(
    const Line& line, const Grid& grid, const PieceType& pieces,
    const LetterOn& letter, const Machine& machine);

}  // namespace gt
