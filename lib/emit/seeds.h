// The registers that stand in for the seeds that a program leaves out.
//
// A program may name them: what it saves of one and loads later continues the
// count.
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

  // `first`: what the count begins at.
  Seeds(Ledger& ledger, const LineWriter& writer, int64_t first)
      : ledger_(ledger), writer_(writer), first_(first) {}

  // Whether the line reads the register by its name. Then it must be there,
  // also before a seed is left out for the first time.
  static bool is_read(const Line& line);
  // Makes the register where it is missing: on the ranks, or without ranks.
  void begin(std::string& out);
  void begin(const Ranks& ranks, const Mesh* mesh, std::string& out);
  // Adds it to the operands of a line that leaves its seed out.
  void complete(LineState& state, std::string& out);
  // The next use differs. A gradient may need this one's: as when a user binds
  // a name again, an alias keeps it.
  void advance(const LineState& state, std::string& out);

  // What a program binds the register to must be a count, the same one on all
  // ranks that have it.
  Status check(const LineState& state, const std::vector<Type>& results) const;
  Status check(const LineState& state,
               const std::vector<grad::PlacedType>& results) const;
  // A line binds or frees the name: no read of ours holds its value any more.
  void let_go(std::string_view name, std::string_view ranks);

 private:
  std::string first(bool is_second) const;
  void hold(SymbolId seed, Origin origin);
  void let_go(ValueId seed);
  void keep(const Ranks& ranks, const Mesh* mesh, std::string& out);
  void advance_unplaced(const LineState& state, std::string& out);
  void advance_placed(const LineState& state, std::string& out);

  Ledger& ledger_;
  const LineWriter& writer_;
  int64_t first_;
};

}  // namespace gt::emit
