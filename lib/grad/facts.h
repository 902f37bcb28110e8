// Facts that only few values of a history have, kept beside their cells.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/origin.h"
#include "grad/consumed_targets.h"
#include "grad/ids.h"
#include "grad/name_set.h"

namespace gt::grad {

// How a value lost its history (HistoryCells::lost), or the user's name that
// held it (HistoryCells::gone).
struct Lost {
  // The cause: a grad consumed the history, the limit on the history's length
  // ended it, or a name was bound again or freed.
  enum class Kind : uint8_t { kNot, kConsumed, kForgotten, kRebound };
  Origin at;  // the line at which that happened
  // For kRebound: the name, and the serial number of a value that existed while
  // the symbol stood for that name (emit/symbols.h, Symbol::since).
  uint64_t serial = 0;
  SymbolId name = kNil;
  Kind kind = Kind::kNot;
  // True if the history may have led to a value that is still a target. A
  // history that ended because names were bound again did not: a value that a
  // name holds keeps all that follows from it.
  bool hides_targets() const {
    return kind == Kind::kConsumed || kind == Kind::kForgotten;
  }
};

// The facts of one value; values for which is_empty() is true have none.
struct Facts {
  SymbolId alias = kNil;  // gt's own name that holds it beside the user's
  uint32_t pending = 0;   // lines still to be written that read its data
  uint32_t reads = 0;     // nodes whose gradient reads it, if `counted`
  bool counted = false;   // `reads` is kept, for what a name of gt's holds
  bool internal = false;  // the name that holds it is gt's own
  bool listed = false;    // it is in Tape::idle_
  bool unwanted = false;  // its node need not be kept for its sake
  Lost lost;              // how it lost its history
  Lost gone;              // how it lost its user's name, unless Cell::gone says
  ConsumedTargets consumed;  // the targets behind its history, if that was lost
  // The names that values behind it had, if its history was lost, beside those
  // of `consumed`; and names that it had itself before `gone`.
  NameSets::Ref former;
  bool is_ours() const { return alias != kNil || internal; }
  bool is_empty() const {
    return alias == kNil && pending == 0 && !counted && !internal && !listed &&
           !unwanted && lost.kind == Lost::Kind::kNot &&
           gone.kind == Lost::Kind::kNot && !consumed.table && !former;
  }
};

}  // namespace gt::grad
