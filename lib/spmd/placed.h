// A line with ranks: where it runs, and what it is on each of its ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ops/call.h"
#include "spmd/group_program.h"
#include "spmd/mesh.h"
#include "spmd/rank_set.h"
#include "spmd/split.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt {

// Error: names without ranks beside names with them.
Status check_mixed(const Line& line);

// Where a line runs, and where each of its operands lives (of names; else
// empty). Errors: placed and unplaced names on one line, results on different
// sets, operands that do not live where the line runs. A copy may have its
// operand elsewhere.
struct LineRanks {
  std::vector<int64_t> ranks;
  std::vector<std::vector<int64_t>> operands;
};
Result<LineRanks> line_ranks(const Line& line);

// Where the line runs, within its mesh (null: none). Only a line that names
// axes needs its ranks to be of the mesh: values that came before it, on more
// ranks, can still be read, copied and freed.
Result<Grid> grid_of(const Line& line, const Mesh* mesh,
                     const std::vector<int64_t>& ranks);

// The type of the piece of an operand (a name) on a rank; null if there is
// none, which callers have checked.
using PieceType = std::function<const Type*(size_t operand, int64_t rank)>;

// A computing line as some of its ranks run it: split= and whole sizes are
// replaced by local sizes and part=. Its names still have all their ranks.
struct LocalLine {
  LocalLine(Line l, Region r) : line(std::move(l)), region(r) {}
  LocalLine(const LocalLine&) = delete;  // the views would dangle
  LocalLine(LocalLine&&) = default;

  Line line;  // views into the placed line and into `text`
  std::deque<std::string> text;
  Region region;  // what split= speaks of; only when there is one
};

struct LocalPlan {
  LocalPlan() = default;
  LocalPlan(const LocalPlan&) = delete;
  LocalPlan(LocalPlan&&) = default;

  bool has_split = false;
  std::deque<LocalLine> variants;
  std::vector<uint32_t> variant_of;  // by position in the line's ranks
};

// Of a line that does not cross ranks and is no print, save or free.
Result<LocalPlan> local_plan(const Line& line, const Grid& grid);

// Checks that the piece is what split= says.
Status check_region(const Line& line, const LocalLine& variant,
                    const Shape& piece);

// Binds a variant for one rank, and checks that the piece is what split= says.
Status bind_local(const LocalPlan& plan, uint32_t variant,
                  std::span<const Type* const> types, Call& call);

// The ranks on which the line reads operand o: of copy, and of lines without
// results, those that are written at the operand; else those where it runs.
const Ranks& ranks_read(const Line& line, const LineRanks& where, size_t o);

// Whether the line's op moves values between ranks: the collectives, and a
// copy whose operand lives elsewhere.
bool crosses_ranks(const Line& line, const LineRanks& where);

// The whole that print or save with split= puts together, on the first rank of
// its set. Sources are the ranks that it reads: of pieces that several ranks
// hold, one, which `prefers` if there is a choice.
struct Assembly {
  int64_t target = 0;
  std::vector<int64_t> sources;
  std::vector<Type> pieces;
  GroupProgram program;
  Type whole;
};
Result<Assembly> assembly(const Line& line, const Grid& grid,
                          const PieceType& types,
                          const std::function<bool(int64_t)>& prefers = {});

// Types of a line's results, by result and then by position in its ranks. Not
// of print, save, free, fail and grad.
Result<std::vector<std::vector<Type>>> infer_placed(const Line& line,
                                                    const LineRanks& where,
                                                    const Mesh* mesh,
                                                    const PieceType& types);

}  // namespace gt
