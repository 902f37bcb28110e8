// The state of a stream, as gt-emit knows it: the meshes, what every name
// holds, and the history (grad/tape.h) behind it.
//
// Names change only here, since a change may need lines of its own. When a name
// is bound again or freed while a gradient may still read the data that it
// held, an alias, "_e0 = copy h", is written before that, and keeps the data
// under an internal name. When nothing needs the data any more, the free of
// that name is written. The data of a value with a recipe is not kept: a
// gradient computes it again (recompute.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_pool.h"
#include "emit/recompute.h"
#include "emit/symbols.h"
#include "emit/usage.h"
#include "grad/tape.h"
#include "grad/value_types.h"
#include "stream/replay.h"

namespace gt::emit {

struct Ledger {
  Ledger() {
    tape.set_name_times([this](SymbolId id) { return symbols[id].since; });
  }
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  grad::ValueTypes types;  // of the values on the tape
  grad::MeshIds mesh_ids;
  Meshes meshes;
  grad::Tape tape;
  Recipes recipes{tape};
  Symbols symbols;
  Usage usage;  // of the names and lines
  // True if the input is a stream that gt-emit wrote ("#gt" opened it): then no
  // aliases and no frees are added to it.
  bool emitted = false;

  // Return the symbol of a name, bound or not: as spelt, or on some ranks
  // (none: without ranks).
  SymbolId obtain(std::string_view name) { return named(symbols.obtain(name)); }
  SymbolId obtain(std::string_view name, const Ranks& ranks) {
    return ranks.empty() ? obtain(name)
                         : named(symbols.obtain_part(name, ranks));
  }

  // In the functions below, `before` gets the aliases that must stand before
  // the line at `origin`, which binds or frees the name.

  // Binds a name to a new value.
  void bind(SymbolId id, ValueId value, Origin origin, std::string& before);
  // Unbinds a name that the same line binds again, so that its symbol stays in
  // use. If a history needs the value's data, an alias keeps the data.
  void release(SymbolId id, Origin origin, std::string& before);
  // Unbinds a name for good, as free does.
  void unbind(SymbolId id, Origin origin, std::string& before);

  // The same for a name on some ranks (none: without ranks). If the name holds
  // a value on more ranks than these, it keeps the value on the others.
  // `internal`: the name is gt's own.
  SymbolId bind(std::string_view name, const Ranks& ranks, ValueId value,
                bool internal, Origin origin, std::string& before);
  // Unbinds the name on these ranks, and returns its symbol there.
  SymbolId vacate(std::string_view name, const Ranks& ranks, Origin origin,
                  std::string& before);
  void unbind(std::string_view name, const Ranks& ranks, Origin origin,
              std::string& before);

  // set() notes that the symbol holds a value, which the tape must know
  // already; fail() notes that it holds a failure.
  void set(SymbolId id, ValueId value, Origin origin);
  void fail(SymbolId id, FailureText why, Origin origin);

  // Return the bytes of a value of that type on all of its ranks, or on these
  // alone.
  uint64_t bytes_of(TypeId type) const;
  uint64_t bytes_of(TypeId type, const Ranks& ranks) const;

  // What a name holds on some ranks. A name with ranks is a symbol for each set
  // of ranks under which it was bound (program/symbol_table.h), so several may
  // have to be read, each on those of the wanted ranks that it has, ascending.
  struct PieceRead {
    SymbolId symbol;
    Ranks ranks;
  };
  struct PieceReads {
    std::vector<PieceRead> pieces;
    Ranks missing;  // on which the name holds nothing
  };
  PieceReads find_pieces(std::string_view name, const Ranks& ranks) const;

  // Returns an internal name: "_e0" with the smallest number that is free, or
  // "c1/_e0" if `like` is in the name space c1. give_back() frees the number
  // again.
  std::string fresh_name(std::string_view like);
  void give_back(std::string_view name);
  // Binds `name`, a fresh internal name, to the value, on all ranks that the
  // value has.
  SymbolId hold_internal(ValueId value, std::string_view name, Origin origin);
  // Frees the internal names whose data no gradient needs any more, and writes
  // the lines that say so.
  void write_idle_frees(std::string& out);
  // If the data of the value was dropped, writes the lines that compute it
  // again from its recipe. end_line(notes, out) must write what stands behind
  // the instruction of each.
  using EndLine = std::function<void(const std::string& notes, std::string&)>;
  void recompute(ValueId value, const EndLine& end_line, std::string& out);

  // Returns the symbol under which a value's data can be read; kNil if there is
  // none. An alias comes first, since it has all ranks of the value, and the
  // user's name may have lost some.
  SymbolId reading_name(ValueId value) const {
    const SymbolId alias = tape.alias(value);
    return alias != kNil ? alias : tape.name(value);
  }
  // Returns the name under which a value's data can be read, on `ranks` as
  // written.
  std::string name_of(ValueId value, std::string_view ranks) const;

  // Forgets the types of placed values that are gone, once these take much room
  // (grad::ValueTypes::keep_only).
  void drop_types();

  // Returns the name that `lost` refers to; "a name" if its symbol stands for
  // another name by now.
  std::string_view lost_name(const grad::Lost& lost) const;
  // True if the symbol still stands for that name.
  bool stands(const grad::Lost& lost) const {
    return symbols[lost.name].since <= lost.serial;
  }
  bool is_known(const grad::NamedSince& name) const {
    return symbols[name.name].since == name.since;
  }

  // Appends everything here that affects what is written for later lines, as
  // one text: ledgers with equal texts answer all later lines alike, and Replay
  // recognises by it that a round comes again (Rewriter::state). Places of
  // lines are left out; visit() is called for each of them, always in the same
  // order.
  void state(std::string& text, const PlaceVisitor& visit);

 private:
  // The operands of free lines. One line may name unplaced names only, or names
  // with ranks of one name space only.
  struct Frees {
    std::string unplaced;
    std::vector<std::pair<std::string, std::string>> placed;  // by name space
  };

  SymbolId named(SymbolId id);
  void clear(SymbolId id);
  void count(SymbolId id);
  void count_bytes(SymbolId id);
  grad::Lost rebound(SymbolId id, Origin origin, ValueId value) const;
  SymbolId keep_alias(SymbolId id, ValueId value, Origin origin,
                      std::string& before);
  void drop_data(SymbolId id, ValueId value, Origin origin);
  void compute_again(ValueId value, const EndLine& end_line, std::string& out);
  SymbolId obtain_internal(const Shared<Ranks>& ranks, std::string_view like);
  void narrow(SymbolId id, const Ranks& rest, Origin origin,
              std::string& before);
  void free_internal(SymbolId id, Frees& frees);

  NumberPool numbers_;
};

}  // namespace gt::emit
