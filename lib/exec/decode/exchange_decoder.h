// Decodes lines whose values cross between workers into exchanges
// (comm/exchange.h). A worker knows only its own registers, so gt-route states
// the types of all pieces in a note, #pieces=. Such a line becomes an exchange
// even if a piece of this worker is missing or has another type: the other
// workers wait for it, and are told why it will not come.
#pragma once

#include <string>
#include <vector>

#include "exec/decode/pieces.h"
#include "exec/recipe/recipe_table.h"
#include "spmd/exchange_plan.h"

namespace gt::exec {

// What the note #pieces= states about a line's operand.
struct NotedPieces {
  std::vector<int64_t> ranks;
  std::vector<Type> types;  // by rank

  PieceType by_rank() const;  // refers to this object
};
// Reads the note for an operand whose name has ranks. Errors: there is no such
// note, it is malformed, or it has not one type, nor as many types as ranks.
Result<NotedPieces> noted_pieces(const Line& line, const Operand& operand);

// Returns the notes #pieces=, #from= and #to= of a line as one text. With
// several workers, the meaning of a line depends on them.
std::string exchange_notes(const Line& line);

class ExchangeDecoder {
 public:
  // All arguments must outlive the object. `programs` has the recipes of the
  // communication thread.
  ExchangeDecoder(Pieces& pieces, Registers& registers, TypeIds& types,
                  const Hosting& hosting, RecipeTable& programs)
      : pieces_(pieces),
        registers_(registers),
        types_(types),
        hosting_(hosting),
        programs_(programs) {}

  // Adds an exchange, as a part of the line, for each of its groups that has
  // ranks of other workers. Returns the groups whose ranks are all this
  // worker's.
  Result<std::vector<ExchangePlan>> add_groups(const Line& line,
                                               const LineRanks& where,
                                               const Grid& grid,
                                               const PieceType& types,
                                               LineEntry& whole);
  // Adds the exchange of a print or save of a whole tensor, whose pieces are
  // assembled by the worker that plays the first of its ranks, or that of the
  // note #to=.
  Status add_assembly(const Line& line, const Grid& grid, LineEntry& whole);
  // True for a save that its note #to= leaves to a certain worker.
  static bool is_moved(const Line& line);
  // Decodes a line that brings a value from worker to worker; see
  // PlacedDecoder::decode_transfer().
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
