// What the names that a line reads hold.
#pragma once

#include <string>

#include "base/result.h"
#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/line_writer.h"
#include "emit/seeds.h"

namespace gt::emit {

// What is said of an operand's name that has nothing on some ranks.
Error unknown_piece(const Ledger& ledger, const Line& line, size_t operand,
                    const Ranks& missing);

class Operands {
 public:
  Operands(Ledger& ledger, Seeds& seeds, bool shows)
      : ledger_(ledger), seeds_(seeds), shows_(shows) {}

  // Looks up the names of a line without ranks: its values and types. Error: a
  // name that is bound to nothing. `failed` becomes one that holds a failure,
  // if any does.
  Status resolve(LineState& state, FailureText& failed) const;
  // The same of a line with ranks: its reads. What must stand before it, a
  // register of seeds, goes to `out`.
  Status resolve_pieces(LineState& state, FailureText& failed,
                        std::string& out) const;

  // The type of what the operand's name holds on a rank; null: nothing.
  const Type* piece_type(const LineState& state, size_t operand,
                         int64_t rank) const;
  PieceType piece_types(const LineState& state) const {
    return [this, &state](size_t operand, int64_t rank) {
      return piece_type(state, operand, rank);
    };
  }

  // What the pieces of each operand are on the tape: an operand that several
  // values hold becomes a value of its own, whose history is theirs. Error:
  // they are of several dtypes.
  Status join(LineState& state) const;
  // Whether each operand with ranks is one value, on all ranks that it has, and
  // the results say their ranks as the table of names does.
  bool are_whole(const LineState& state) const;
  // The line is recorded: a value that was put together has a name where a
  // history needs its data.
  void settle(LineState& state) const;

 private:
  Status check_dtypes(const LineState& state, size_t operand) const;
  ValueId join(LineState& state, size_t operand) const;
  ValueId known_join(const std::vector<ValueId>& values,
                     const std::string& line) const;

  Ledger& ledger_;
  Seeds& seeds_;
  bool shows_;  // the tape's lines stand there as people read them
};

}  // namespace gt::emit
