// A line whose names are looked up in ValueLocations: it says on which ranks
// the line runs, and which registers, types and failures it finds there.
// RouteBuilder makes one for each line that it decodes. A line is placed if its
// names have ranks.
//
// A line that is not placed is taken to run on rank 0, its only rank, so that
// both kinds have the same interface. No worker plays this rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/small_vector.h"
#include "ops/call.h"
#include "route/rank_table.h"
#include "route/value_locations.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt::route {

class ResolvedLine {
 public:
  // The types by operand; null for an operand that is no name.
  using Types = SmallVector<const Type*, 4>;
  using Found = SmallVector<SymbolId, 4>;  // each register once
  // The ranks on which something that the line reads has failed.
  struct Failures {
    FailureText why;          // that of the first failure; null: none failed
    std::vector<bool> ranks;  // indexed as ranks(); empty: none failed
    bool all = false;         // true if it has failed on all of them
  };

  // All of these outlive it. Names are not looked up yet: set_ranks() and then
  // find_operands() are to be called before all else.
  ResolvedLine(const Line& text, const ValueLocations& locations,
               const TypeIds& types);

  // Finds where the line runs. Error: it has names without ranks beside names
  // with ranks, or its ranks do not fit each other or their mesh.
  Status set_ranks(const Meshes& meshes, const RankTable& table);
  // Looks up all operands, and adds their registers to `found`. Error: a name,
  // or a piece of it on one of the ranks, that holds nothing.
  Status find_operands(Found& found);

  // The ranks on which the line runs, in the order that it states.
  const Ranks& ranks() const;
  // Returns the registers of an operand; for a placed line all parts of its
  // name, including those on ranks that the line does not read.
  std::span<const SymbolId> registers(size_t operand) const;
  // Returns the type of an operand's piece on a rank; kNoType if it has no
  // piece there.
  TypeId type_on(size_t operand, int64_t rank) const;
  // Returns the types of all operands on a rank. A piece that has failed is
  // given the type that the operand has on another of the line's ranks, so that
  // results have a type nevertheless; it is null if the operand has failed on
  // all of them.
  Types types_on(int64_t rank) const;
  // Returns the same as a function, for lib/spmd. The function refers to this
  // line.
  PieceType piece_types() const;
  // Returns why an operand has failed on one of these ranks; null if it has
  // not.
  FailureText failure_in(size_t operand, const Ranks& ranks) const;
  // Returns the failures of all operands on all ranks of the line.
  Failures failures() const;
  // Returns the cost of a placed line that crosses no ranks, in nanoseconds on
  // a worker that plays its share of the ranks (at least one); 0 if it is not
  // known.
  uint64_t cost_of_rank(size_t workers) const;

  const Line& parsed;
  const Op* op;  // null: no op has that name
  Statement statement;
  bool is_placed;
  const Mesh* mesh = nullptr;  // the mesh of its name space; null: none
  std::string_view space;      // the name space that mesh and ranks belong to
  // The following members are for placed lines.
  LineRanks where;
  std::optional<Grid> grid;

 private:
  Status find_pieces(size_t operand, Found& found) const;

  const ValueLocations& locations_;
  const TypeIds& types_;
  // For a line that is not placed, the register of each operand; kNoSymbol for
  // an operand that is no name.
  SmallVector<SymbolId, 4> alone_;
};

// True if the operand is a name.
bool is_register(const Operand& operand);

}  // namespace gt::route
