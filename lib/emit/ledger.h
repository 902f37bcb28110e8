// What gt-emit knows of a stream: the meshes, what every name holds, and the
// history (grad/tape.h) behind it.
//
// Names change here alone, since a change may need lines of its own. When a
// name is bound again or freed while a gradient may still read the data that it
// held, an alias, "_e0 = copy h", is written before that and keeps the data
// under a name of ours; when nobody needs that any more, its free is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/number_pool.h"
#include "emit/symbols.h"
#include "emit/usage.h"
#include "grad/tape.h"
#include "grad/value_types.h"
#include "stream/replay.h"

namespace gt::emit {

struct Ledger {
  grad::ValueTypes types;  // of the values on the tape
  grad::MeshIds mesh_ids;
  Meshes meshes;
  grad::Tape tape;
  Symbols symbols;
  Usage usage;  // of the names and lines
  // The input is a stream that gt-emit wrote ("#gt" opened it): no alias and no
  // free is added to it.
  bool emitted = false;

  // The symbol of a name, bound or not; and of a name on some ranks, or without
  // any.
  SymbolId obtain(std::string_view name) { return named(symbols.obtain(name)); }
  SymbolId obtain(std::string_view name, const Ranks& ranks) {
    return ranks.empty() ? obtain(name)
                         : named(symbols.obtain_part(name, ranks));
  }

  // `before` gets the aliases that must stand before the line at `origin`,
  // which binds or frees the name.

  // Binds a name to a new value.
  void bind(SymbolId id, ValueId value, Origin origin, std::string& before);
  // Unbinds a name that the same line binds again, so that its symbol stays in
  // use. If a history needs the value's data, an alias keeps it.
  void release(SymbolId id, Origin origin, std::string& before);
  // Unbinds a name for good, as free does.
  void unbind(SymbolId id, Origin origin, std::string& before);

  // The same for a name on some ranks, or without any. Where the name holds a
  // value on more ranks than these, it keeps it on the others. `internal`: the
  // name is ours.
  SymbolId bind(std::string_view name, const Ranks& ranks, ValueId value,
                bool internal, Origin origin, std::string& before);
  // The name's symbol, once it holds nothing on these ranks any more.
  SymbolId vacate(std::string_view name, const Ranks& ranks, Origin origin,
                  std::string& before);
  void unbind(std::string_view name, const Ranks& ranks, Origin origin,
              std::string& before);

  // set() notes what the symbol holds, which the tape was told already; fail()
  // that it holds a failure.
  void set(SymbolId id, ValueId value, Origin origin);
  void fail(SymbolId id, FailureText why, Origin origin);

  // Bytes of a value of that type on its ranks, or on these alone.
  uint64_t bytes_of(TypeId type) const;
  uint64_t bytes_of(TypeId type, const Ranks& ranks) const;

  // What a name holds on some ranks: a name with ranks is a symbol for each set
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

  // A name of our own: "_e0" with the smallest number that is free, or "c1/_e0"
  // if `like` is in the name space c1. give_back() frees the number again.
  std::string fresh_name(std::string_view like);
  void give_back(std::string_view name);
  // Binds `name`, a fresh one of ours, to the value, on all ranks that this
  // has.
  SymbolId hold_internal(ValueId value, std::string_view name, Origin origin);
  // Frees those of our names whose data no gradient needs any more, and writes
  // the lines that say so.
  void write_idle_frees(std::string& out);

  // The symbol under which a value's data can be read; kNil: there is none. An
  // alias comes first, since it has all ranks of the value, and the user's name
  // may have lost some.
  SymbolId reading_name(ValueId value) const {
    const SymbolId alias = tape.alias(value);
    return alias != kNil ? alias : tape.name(value);
  }
  // The name under which a value's data can be read, on `ranks` as written.
  std::string name_of(ValueId value, std::string_view ranks) const;

  // Forgets the types of placed values that are gone, once these take much room
  // (grad::ValueTypes::keep_only).
  void drop_types();

  // The name that `lost` speaks of; "a name" if its symbol has come to be that
  // of another name since.
  std::string_view lost_name(const grad::Lost& lost) const;

  // Appends everything here that decides what is written for later lines, as
  // one text: ledgers with equal texts answer all later lines alike, by which
  // Replay finds that a round comes again (Rewriter::state). Places of lines
  // are left out; visit() is called for each of them, always in the same order.
  void state(std::string& text, const PlaceVisitor& visit);

 private:
  // The operands of free lines. One line may name either unplaced names, or
  // names with ranks of one name space.
  struct Frees {
    std::string unplaced;
    std::vector<std::pair<std::string, std::string>> placed;  // by name space
  };

  SymbolId named(SymbolId id);
  void clear(SymbolId id);
  void count(SymbolId id);
  grad::Lost rebound(SymbolId id, Origin origin, ValueId value) const;
  SymbolId keep_alias(SymbolId id, ValueId value, Origin origin,
                      std::string& before);
  SymbolId obtain_internal(const Shared<Ranks>& ranks, std::string_view like);
  void narrow(SymbolId id, const Ranks& rest, Origin origin,
              std::string& before);
  void free_internal(SymbolId id, Frees& frees);

  NumberPool numbers_;
};

}  // namespace gt::emit
