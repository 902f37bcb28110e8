// A placed line is one with ranks. This file tells where it runs, what each of
// its ranks runs, and the types of the pieces that result.
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

namespace gt {

// Returns an error if the line has names with ranks and names without.
Status check_mixed(const Line& line);

// The ranks on which a line runs, and those on which each operand is written;
// the latter are empty for an operand that is no name.
struct LineRanks {
  std::vector<int64_t> ranks;
  std::vector<std::vector<int64_t>> operands;
};
// Errors: names with ranks beside names without, results on different sets, an
// operand without some of the ranks on which the line runs (except for a copy).
Result<LineRanks> line_ranks(const Line& line);

// Returns the ranks of a line within its mesh (which may be null). The ranks
// must be in the mesh only if the line names axes: values that are older than
// the mesh, and on more ranks, can still be read, copied and freed.
Result<Grid> grid_of(const Line& line, const Mesh* mesh,
                     const std::vector<int64_t>& ranks);

// Returns the type of the piece of operand `operand`, a name, on a rank. The
// functions below ask only for pieces that line_ranks() lists; their caller
// must know that these exist.
using PieceType = std::function<const Type*(size_t operand, int64_t rank)>;

// A line as some of its ranks run it. Where the line states split= and the
// sizes of the whole, it states the sizes of the rank's part instead, and part=
// if the op takes it. Its names still have all their ranks.
struct LocalLine {
  LocalLine(Line l, Region r) : line(std::move(l)), region(r) {}
  LocalLine(const LocalLine&) = delete;  // the views would dangle
  LocalLine(LocalLine&&) = default;

  Line line;  // views into the placed line and into `text`
  std::deque<std::string> text;
  Region region;  // the part that split= gives these ranks, if any
};

// The lines that the ranks of a line run. Ranks whose parts have the same sizes
// (and, if the op takes part=, the same place) share a variant.
struct LocalPlan {
  LocalPlan() = default;
  LocalPlan(const LocalPlan&) = delete;
  LocalPlan(LocalPlan&&) = default;

  bool has_split = false;
  std::deque<LocalLine> variants;
  std::vector<uint32_t> variant_of;  // by position in the line's ranks
};

// Returns the plan of a line that does not cross ranks and is no print, save or
// free. The plan keeps views into the line. Errors: split= that cannot be read,
// or cannot cut the whole; the sizes of the whole are not stated.
Result<LocalPlan> local_plan(const Line& line, const Grid& grid);

// Returns an error unless the piece has the shape that split= gives these
// ranks.
Status check_region(const Line& line, const LocalLine& variant,
                    const Shape& piece);

// Binds a variant of the plan, as bind() (ops/call.h) does, with the types of
// the operands' pieces on one rank, and then calls check_region().
Status bind_local(const LocalPlan& plan, uint32_t variant,
                  std::span<const Type* const> types, Call& call);

// Returns the ranks on which the line reads operand o: for a copy, and for
// lines without results, the ranks written at the operand; else those where the
// line runs.
const Ranks& ranks_read(const Line& line, const LineRanks& where, size_t o);

// True if a rank may read a piece of another one: if the op is a collective or
// a conversion, or a copy whose operand is on other ranks.
bool crosses_ranks(const Line& line, const LineRanks& where);
// Returns an error if a line that crosses ranks has not the form `y = op x`.
Status check_crossing(const Line& line);

// The program by which a print or save with split= puts a whole together, on
// the first rank of its set. If several ranks hold the same part, one of them
// is read, preferably one for which prefers(rank) is true.
struct Assembly {
  int64_t target = 0;            // the rank that has the whole
  std::vector<int64_t> sources;  // the ranks that are read
  std::vector<Type> pieces;      // by source
  GroupProgram program;          // makes the whole from the pieces
  Type whole;
};
// Errors: the pieces are not what split= makes of one whole.
Result<Assembly> assembly(const Line& line, const Grid& grid,
                          const PieceType& types,
                          const std::function<bool(int64_t)>& prefers = {});

// Returns the types of the pieces of a line's results, by result and then by
// position in where.ranks. Must not be called for print, save, free, fail and
// grad. Errors: those of the functions above, and of crossings().
Result<std::vector<std::vector<Type>>> infer_placed(const Line& line,
                                                    const LineRanks& where,
                                                    const Mesh* mesh,
                                                    const PieceType& types);

}  // namespace gt
