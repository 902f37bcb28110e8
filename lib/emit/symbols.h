// Names of one stream: what each is bound to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "grad/ids.h"
#include "program/symbol_table.h"

namespace gt::emit {

// What all of gt-emit speaks of.
using grad::kNil;
using grad::NodeId;
using grad::ValueId;

struct Symbol {
  // Of one that has just got another name, until the ledger says since when.
  static constexpr uint64_t kJustNow = UINT64_MAX;

  ValueId value = kNil;  // kNil: unbound, or failed
  bool failed = false;   // bound to a fail value
  // Values that are older (Tape::serial) had another name with this number.
  uint64_t since = 0;
  Origin bound;         // where it was bound
  Shared<Ranks> ranks;  // ascending; null of an unplaced one

  bool is_live() const { return value != kNil || failed; }
  void take_over() {
    *this = Symbol();
    since = kJustNow;
  }
};

class Symbols : public PlacedSymbolTable<Symbol> {
 public:
  // Live names that users may mean.
  std::vector<std::string_view> names_of_users() const;
};

// "_e0" is ours, and "c1/_e0" within name space c1.
bool is_internal_name(std::string_view name);

}  // namespace gt::emit
