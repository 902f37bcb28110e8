// Lines whose values cross from worker to worker. Their types come with them,
// in the note #pieces=, since a worker knows its own registers alone. Such a
// line is decoded as an exchange even when a piece of ours is missing or of
// another type: the others wait for it, so they are told why it will not come.
#pragma once

#include <string>
#include <vector>

#include "exec/decode/pieces.h"
#include "exec/decode/recipe_table.h"
#include "spmd/exchange_plan.h"

namespace gt::exec {

// What #pieces= says of a line's operand.
struct NotedPieces {
  std::vector<int64_t> ranks;
  std::vector<Type> types;  // by rank

  PieceType by_rank() const;  // refers to this
};
// Of the operand, whose name has ranks. Errors: there is no such note, or it
// says something else.
Result<NotedPieces> noted_pieces(const Line& line, const Operand& operand);

// The notes that a line's meaning depends on when there are other workers.
std::string exchange_notes(const Line& line);

class ExchangeDecoder {
 public:
  // All outlive it. `programs` has recipes of the communication thread.
  ExchangeDecoder(Pieces& pieces, Registers& registers, TypeIds& types,
                  const Hosting& hosting, RecipeTable& programs)
      : pieces_(pieces),
        registers_(registers),
        types_(types),
        hosting_(hosting),
        programs_(programs) {}

  // Adds the groups that other workers are in, as parts of the line. Returns
  // those that only this one is in.
  Result<std::vector<ExchangePlan>> add_groups(const Line& line,
                                               const LineRanks& where,
                                               const Grid& grid,
                                               const PieceType& types,
                                               LineEntry& whole);
  // print and save of a whole: by whoever plays the first of its ranks.
  Status add_assembly(const Line& line, const Grid& grid, LineEntry& whole);
  // A value without ranks that goes from worker to worker.
  Status decode_transfer(const Line& line, LineEntry& entry);

 private:
  ExchangeOptions options(const Line& line) const;
  bool is_all_here(const ExchangePlan& plan) const;
  Status add(const Line& line, const ExchangePlan& plan, const PieceType& types,
             LineEntry& whole);
  void add_shown(const Line& line, const std::string& name, const Type& type,
                 LineEntry& entry);
  void add_made(const std::string& name, uint32_t target, const Type& type,
                LineEntry& entry);

  Pieces& pieces_;
  Registers& registers_;
  TypeIds& types_;
  const Hosting& hosting_;
  RecipeTable& programs_;
};

}  // namespace gt::exec
