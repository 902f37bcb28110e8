// The lines `free x act/*`: finds the names that each frees. seeds.h describes
// what a free of the register of seeds does.
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

  // Unbinds the names and writes the line, with each glob replaced by the names
  // that it matches; unplaced names and names with ranks get a line each.
  // Error: a name that holds nothing there; then nothing was freed.
  Status run(const LineState& state, std::string& out);
  // Handles a free that can pass as it came: it has few names, each of which is
  // live, is named once, and has just the ranks under which it was bound.
  // Unbinds the names; aliases that must stand before the line go to `out`, and
  // the caller must write the line itself. Returns false, and frees nothing, if
  // it is no such line.
  bool run_plain(const Pattern& pattern, Origin origin, std::string& out);

 private:
  // A name on some of its ranks.
  struct Freed {
    std::string name;
    Ranks ranks;
    std::string text;  // the ranks as text
  };
  struct List {
    std::vector<SymbolId> unplaced;
    std::unordered_set<SymbolId> seen;  // the same, for look-ups
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
  std::vector<SymbolId> known_;  // scratch of run_plain(), kept for its memory
};

}  // namespace gt::emit
