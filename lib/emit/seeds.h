// The registers that stand in for the random seeds that a program leaves out.
//
// gt-emit makes the register, "_eseed = tensor i64[] 0", before the first line
// that leaves its seed out, adds its name to the operands of each such line,
// and writes "_eseed = add _eseed 1" after it, so that every use differs and a
// loop stays the same text. Lines without ranks count in one register. Lines
// with ranks count in one that all ranks share, "_eseed@0-3": a rank that lacks
// it gets a copy of another rank's count.
//
// A program may name the register like any other name: saving and loading it
// continues the count. It may bind the register, but only to an i64[], and on
// all ranks that have one at once; then the count goes on from there. And it
// may free it: the next line that leaves its seed out makes it anew, so that
// the count begins again. If it is freed on some of its ranks only, it is
// copied to them from the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/line_writer.h"

namespace gt::emit {

class Seeds {
 public:
  static constexpr std::string_view kName = "_eseed";

  // `first` is the number at which the count begins (--seed), in the register
  // without ranks or in the one with ranks, whichever the program uses first.
  // The other one begins half the range of an i64 away, so that no two uses get
  // the same seed.
  Seeds(Ledger& ledger, const LineWriter& writer, int64_t first)
      : ledger_(ledger), writer_(writer), first_(first) {}

  // True if the line reads the register by its name. Then begin() must make the
  // register, even if no seed was left out yet.
  static bool is_read(const Line& line);
  // Write the line that makes the register, without ranks or on those of the
  // ranks where it is missing; nothing if it exists.
  void begin(std::string& out);
  void begin(const Ranks& ranks, const Mesh* mesh, std::string& out);
  // Adds the register to the operands of a line that leaves its seed out. If
  // the register is missing, the line that makes it goes to `out` first.
  void complete(LineState& state, std::string& out);
  // Advances the count after such a line, by a line that goes to `out`. If a
  // gradient (of dropout) may need the seed that was used, an alias keeps it,
  // as when a user binds a name again.
  void advance(const LineState& state, std::string& out);

  // Error: the line binds the register to something other than an i64[], or on
  // only some of the ranks that have it.
  Status check(const LineState& state, const std::vector<Type>& results) const;
  Status check(const LineState& state,
               const std::vector<grad::PlacedType>& results) const;
  // Must be called when a program's line binds or frees the name. Between lines
  // gt-emit keeps the register's value alive, as one that is still to be read;
  // this ends that.
  void let_go(std::string_view name, std::string_view ranks);

 private:
  enum class Kind : uint8_t { kNone, kUnplaced, kPlaced };
  std::string first(Kind kind, bool has_other);
  void hold(SymbolId seed, Origin origin);
  void let_go(ValueId seed);
  void keep(const Ranks& ranks, const Mesh* mesh, std::string& out);
  void advance_unplaced(const LineState& state, std::string& out);
  void advance_placed(const LineState& state, std::string& out);

  Ledger& ledger_;
  const LineWriter& writer_;
  int64_t first_;
  Kind begins_at_first_ = Kind::kNone;  // which of the two was made first
};

}  // namespace gt::emit
