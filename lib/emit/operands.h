// Looks up what the names that a line reads hold.
#pragma once

#include <string>

#include "base/result.h"
#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/line_writer.h"
#include "emit/seeds.h"

namespace gt::emit {

class Operands {
 public:
  Operands(Ledger& ledger, Seeds& seeds, bool shows)
      : ledger_(ledger), seeds_(seeds), shows_(shows) {}

  // Sets the values and types of a line without ranks. Error: a name that is
  // bound to nothing. If an operand holds a failure, sets `failed` to its text;
  // the caller must then pass it on to the results.
  Status resolve(LineState& state, FailureText& failed) const;
  // Does the same for a line with ranks, and sets its `reads`. If the line
  // names the register of seeds on ranks where it does not exist yet, the line
  // that makes it goes to `out` (seeds.h).
  Status resolve_pieces(LineState& state, FailureText& failed,
                        std::string& out) const;

  // Returns the type of what the operand's name holds on a rank; null: nothing.
  const Type* piece_type(const LineState& state, size_t operand,
                         int64_t rank) const;
  PieceType piece_types(const LineState& state) const {
    return [this, &state](size_t operand, int64_t rank) {
      return piece_type(state, operand, rank);
    };
  }

  // Sets the values of a line with ranks, whose reads are known. If an
  // operand's pieces belong to several values, these are joined into one on the
  // tape, whose history is theirs (Tape::join). Error: they differ in dtype.
  Status join(LineState& state) const;
  // True if each operand with ranks is one value, read on just the ranks that
  // it has, and names are written with their ranks as the symbol table spells
  // them: then lines like it can be found by their text.
  bool are_whole(const LineState& state) const;
  // Must be called once the line is on the tape, or was given up. A joined
  // value whose data a history needs gets an internal name, by a line in
  // `state.before`; one that nothing needs is dropped.
  void settle(LineState& state) const;

 private:
  Status check_dtypes(const LineState& state, size_t operand) const;
  ValueId join(LineState& state, size_t operand) const;
  ValueId known_join(const std::vector<ValueId>& values,
                     const std::string& line) const;

  Ledger& ledger_;
  Seeds& seeds_;
  bool shows_;  // keep each line's text on the tape, for --tape
};

}  // namespace gt::emit
