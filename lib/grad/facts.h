// What few values of a history have, and so stands beside their cells.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/origin.h"
#include "grad/hidden.h"
#include "grad/ids.h"

namespace gt::grad {

// Why the history behind a value is not there, or its name is not its own.
struct Lost {
  enum class Kind : uint8_t { kNot, kConsumed, kForgotten, kRebound };
  Origin at;  // the grad, the line that went over the limit, the rebind
  // Of kRebound: the name that was bound again or freed, and the serial number
  // of a value that was there when it had that name (see Symbol::since).
  uint64_t serial = 0;
  SymbolId name = kNil;
  Kind kind = Kind::kNot;
  // A history that ended because its names were bound again did not lead to a
  // target: a value that a name holds keeps what follows from it.
  bool hides_targets() const {
    return kind == Kind::kConsumed || kind == Kind::kForgotten;
  }
};

struct Facts {
  SymbolId alias = kNil;  // our own name beside the user's
  uint32_t pending = 0;   // lines yet to be written that read it
  uint32_t reads = 0;     // nodes whose gradient reads it, if counted
  bool counted = false;   // one of our names holds it
  bool internal = false;  // no user's name does
  bool listed = false;    // stands in idle_
  bool unwanted = false;  // counts no more among its node's results
  Lost lost;
  Lost gone;
  Hidden hidden;  // by a lost history: the targets behind
  bool is_ours() const { return alias != kNil || internal; }
  bool is_empty() const {
    return alias == kNil && pending == 0 && !counted && !internal && !listed &&
           !unwanted && lost.kind == Lost::Kind::kNot &&
           gone.kind == Lost::Kind::kNot && !hidden.table;
  }
};

}  // namespace gt::grad
