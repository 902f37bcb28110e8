// free: which names a line lets go of.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/line_writer.h"
#include "emit/seeds.h"
#include "stream/pattern.h"

namespace gt::emit {

class Frees {
 public:
  Frees(Ledger& ledger, const LineWriter& writer, Seeds& seeds)
      : ledger_(ledger), writer_(writer), seeds_(seeds) {}

  // Writes the line, with what globs stand for. Error: nothing was freed.
  Status run(const LineState& state, std::string& out);
  // Frees what a plain line names, whole pieces or values without ranks, each
  // once; what must stand before the line goes to `out`. False: it is no such
  // line, and nothing was freed.
  bool run_plain(const Pattern& pattern, Origin origin, std::string& out);

 private:
  // A name, or what it holds on some ranks.
  struct Freed {
    std::string name;
    Ranks ranks;
    std::string text;  // of the ranks
  };
  struct List {
    std::vector<SymbolId> unplaced;
    std::unordered_set<SymbolId> seen;  // of these
    std::vector<Freed> placed;
  };
  Status collect(const Line& line, List& list) const;
  void add_glob(std::string_view glob, List& list) const;
  static void add(SymbolId id, List& list);
  static void add(std::string_view name, const Ranks& ranks, std::string text,
                  List& list);

  Ledger& ledger_;
  const LineWriter& writer_;
  Seeds& seeds_;
  std::vector<SymbolId> known_;  // room for those of run_plain()
};

}  // namespace gt::emit
