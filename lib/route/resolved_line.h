// A line whose names are resolved: where it runs, and which registers, types
// and failures it finds there.
//
// A line without ranks is taken for one on rank 0 of the empty mesh, its only
// rank: but nothing says which worker plays that.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/small_vector.h"
#include "ops/call.h"
#include "ops/table.h"
#include "route/homes.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt::route {

class ResolvedLine {
 public:
  using Types = SmallVector<const Type*, 4>;  // by operand; null of no name
  using Found = SmallVector<HomeId, 4>;       // each register once
  // Which pieces of what a line reads failed.
  struct Failures {
    FailureText why;          // of one; null: none failed
    std::vector<bool> ranks;  // by position in the line's ranks
    bool all = false;
  };

  // All of these outlive it. Nothing is resolved yet.
  ResolvedLine(const Line& text, const Homes& homes, const TypeIds& types);

  // Says where the line runs. Error: it has names without ranks beside names
  // with them, or its ranks do not go together.
  Status set_ranks(const Meshes& meshes);
  // Adds the registers of all operands to `found`. Error: a name, or a piece of
  // it, that is not there.
  Status find_operands(Found& found);

  // On which it runs.
  const Ranks& ranks() const;
  std::span<const HomeId> registers(size_t operand) const;
  // Of the piece of an operand on a rank; kNone if there is none.
  TypeId type_on(size_t operand, int64_t rank) const;
  // Types of the operands that are names. That of a piece which failed is that
  // of one on another of the line's ranks, or null.
  Types types_on(int64_t rank) const;
  PieceType piece_types() const;
  FailureText failure_in(size_t operand, const Ranks& ranks) const;
  Failures failures() const;
  // Nanoseconds of the busiest of so many workers, roughly. Of a placed line.
  uint64_t cost_of_rank(size_t workers) const;

  const Line& parsed;
  const Op* op;  // null: it is unknown, and the operands are not looked up
  Statement statement;
  bool is_placed;
  const Mesh* mesh = nullptr;
  std::string_view space;
  // Of a placed line.
  LineRanks where;
  std::optional<Grid> grid;

 private:
  Status find_pieces(size_t operand, Found& found) const;

  const Homes& homes_;
  const TypeIds& types_;
  // Of an unplaced line, by operand: its register, or kNoSymbol.
  SmallVector<HomeId, 4> alone_;
};

// Whether the operand is a name.
bool is_register(const Operand& operand);

}  // namespace gt::route
