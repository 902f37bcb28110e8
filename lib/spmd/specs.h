// redistribute with src_spec= and dst_spec=: what is cut as one says becomes
// cut as the other does, by steps over one axis each. gt-emit writes the steps,
// as redistribution.h finds them.
//
// Source: spmd_types 0.2 (meta-pytorch/spmd_types), which has such specs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/mesh.h"
#include "spmd/move.h"
#include "spmd/placed.h"
#include "spmd/split.h"
#include "stream/line.h"

namespace gt {

// Whether the line states specs, and no ends on one axis.
bool states_specs(const Line& line);

// "dp+tp,-" as split= would have it, dp:0,tp:0. Errors: entries for more or
// fewer dimensions, an axis that the mesh lacks or that stands twice.
Result<std::vector<SplitEntry>> parse_spec(std::string_view text,
                                           const Mesh* mesh, size_t dims);

// The two specs of a line over pieces of so many dimensions.
struct Specs {
  std::vector<SplitEntry> src;
  std::vector<SplitEntry> dst;
};
Result<Specs> specs_of(const Line& line, const Mesh* mesh, size_t dims);

// Types of the result's pieces, by position.
Result<std::vector<Type>> redistributed(const Line& line, const Grid& grid,
                                        const PieceType& pieces);

// A line of a redistribution, over one axis: its keys are views into the moved
// texts, all else into the line that it was made from.
struct RedistributionStep {
  Line line;
  MoveKeys keys;
};

// The lines that do it, under the result's name, with the line's notes; what
// they claim of the result, and the remark, stands on the last. Their columns
// are those of the line.
// `letter`: what the operand is on an axis that src_spec= does not name.
using LetterOn = std::function<char(const std::string& axis)>;
Result<std::vector<RedistributionStep>> redistribution_steps(
    const Line& line, const Grid& grid, const PieceType& pieces,
    const LetterOn& letter);

}  // namespace gt
