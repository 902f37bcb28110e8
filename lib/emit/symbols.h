// The names of one stream and what each is bound to. A symbol is a name, or a
// name on one set of ranks, by its number (program/symbol_table.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "grad/ids.h"
#include "program/symbol_table.h"

namespace gt::emit {

using grad::kNil;
using grad::NodeId;
using grad::ValueId;

struct Symbol {
  // The value of `since` in a symbol whose number was just given to another
  // name, until the Ledger sets it.
  static constexpr uint64_t kJustNow = UINT64_MAX;

  ValueId value = kNil;  // kNil: unbound, or failed
  bool failed = false;   // bound to a fail value
  // The time from which the number is this name's, in serial numbers of values
  // (HistoryCells::serial): an older value was held by another name under it.
  uint64_t since = 0;
  Origin bound;         // the line that bound it
  uint64_t bytes = 0;   // bytes of the value, if usage is counted (usage.h)
  Shared<Ranks> ranks;  // ascending; null if unplaced

  bool is_live() const { return value != kNil || failed; }
  void take_over() {
    *this = Symbol();
    since = kJustNow;
  }
};

class Symbols : public PlacedSymbolTable<Symbol> {
 public:
  // Returns all live names except those that filters invented, or `most` of
  // them.
  std::vector<std::string_view> names_of_users(size_t most = SIZE_MAX) const;
  // Returns what unknown_name() tells of a name that is not there: its parts,
  // and others that may be spelt alike. They are looked for a thousand times,
  // and no more: so mistakes do not cost the square of their number, and nobody
  // reads further.
  std::vector<std::string_view> names_like(std::string_view name) const;

 private:
  mutable size_t looks_ = 0;
};

// True if a filter invented the name: "_e0", or "c1/_e0" in name space c1.
bool is_internal_name(std::string_view name);

}  // namespace gt::emit
