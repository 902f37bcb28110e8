// What only few values of a history have, and so stands beside their cells.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/origin.h"
#include "grad/hidden.h"
#include "grad/ids.h"

namespace gt::grad {

// How a value lost something: the history behind it (HistoryCells::lost), or
// the user's name that held it (HistoryCells::gone).
struct Lost {
  // By a grad, by the limit on the history's length, or since a name was bound
  // again or freed.
  enum class Kind : uint8_t { kNot, kConsumed, kForgotten, kRebound };
  Origin at;  // the line at which that happened
  // Of kRebound: the name, and the serial number of a value that was there
  // while the symbol was that name's (emit/symbols.h, Symbol::since).
  uint64_t serial = 0;
  SymbolId name = kNil;
  Kind kind = Kind::kNot;
  // Whether the history may have led to a value that still is a target. One
  // that ended because names were bound again did not: a value that a name
  // holds keeps all that follows from it.
  bool hides_targets() const {
    return kind == Kind::kConsumed || kind == Kind::kForgotten;
  }
};

struct Facts {
  SymbolId alias = kNil;  // the name of ours that holds it beside the user's
  uint32_t pending = 0;   // lines yet to be written that read its data
  uint32_t reads = 0;     // nodes whose gradient reads its data, if `counted`
  bool counted = false;   // `reads` is kept, as of what a name of ours holds
  bool internal = false;  // the name that holds it is ours
  bool listed = false;    // it stands in Tape::idle_
  bool unwanted = false;  // its node need not be kept for it
  Lost lost;              // its history
  Lost gone;              // its user's name, unless Cell::gone tells
  Hidden hidden;          // the targets behind, of a history that was lost
  bool is_ours() const { return alias != kNil || internal; }
  bool is_empty() const {
    return alias == kNil && pending == 0 && !counted && !internal && !listed &&
           !unwanted && lost.kind == Lost::Kind::kNot &&
           gone.kind == Lost::Kind::kNot && !hidden.table;
  }
};

}  // namespace gt::grad
