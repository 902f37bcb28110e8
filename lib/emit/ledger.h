// What every name holds, and the lines that keep it so: aliases of values that
// a history needs after their name was bound again, and the frees of our own
// names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emit/symbols.h"
#include "grad/tape.h"
#include "grad/value_types.h"
#include "program/number_pool.h"
#include "stream/replay.h"

namespace gt::emit {

struct Ledger {
  grad::ValueTypes types;
  grad::MeshIds mesh_ids;
  Meshes meshes;
  grad::Tape tape;
  Symbols symbols;
  // The stream was emitted before: its names come and go as it says, no alias
  // is added.
  bool emitted = false;

  // The symbol of a name, bound or not; and of a name on some ranks.
  SymbolId obtain(std::string_view name) { return named(symbols.obtain(name)); }
  SymbolId obtain(std::string_view name, const Ranks& ranks) {
    return named(symbols.obtain_part(name, ranks));
  }

  // Binds a name to a new value. What must stand before the line goes to
  // `before`.
  void bind(SymbolId id, ValueId value, Origin origin, std::string& before);
  // Unbinds a name that is bound again at once. If a history needs the value's
  // data, an alias keeps it.
  void release(SymbolId id, Origin origin, std::string& before);
  // The name goes.
  void unbind(SymbolId id, Origin origin, std::string& before);

  // The same for a name on some ranks. Of a value that has more of them the
  // rest stays bound.
  SymbolId bind(std::string_view name, const Ranks& ranks, ValueId value,
                bool internal, Origin origin, std::string& before);
  void unbind(std::string_view name, const Ranks& ranks, Origin origin,
              std::string& before);

  // What the symbol holds from now on, as the tape knows already; and that the
  // line which was to make it failed.
  void set(SymbolId id, ValueId value, Origin origin);
  void fail(SymbolId id, FailureText why, Origin origin);

  // What a name holds on some ranks.
  struct PieceRead {
    SymbolId symbol;
    Ranks ranks;  // of the wanted ones, ascending
  };
  struct PieceReads {
    std::vector<PieceRead> pieces;
    Ranks missing;
  };
  PieceReads find_pieces(std::string_view name, const Ranks& ranks) const;

  // Our own names: "_e0" and so on, the smallest number that is free; "c1/_e0"
  // in the name space of `like`, whose ranks it may share.
  std::string fresh_name(std::string_view like);
  void give_back(std::string_view name);
  // Our name for the value, on all ranks that it has.
  SymbolId hold_internal(ValueId value, std::string_view name, Origin origin);
  // Writes a free of those of our names that nobody needs any more.
  void write_idle_frees(std::string& out);

  // Whose name a value's data can be read by: ours, if the user's has fewer
  // ranks. kNil: none's.
  SymbolId reading_name(ValueId value) const {
    const SymbolId alias = tape.alias(value);
    return alias != kNil ? alias : tape.name(value);
  }
  // The name under which a value's data can be read, on `ranks` as written.
  std::string name_of(ValueId value, std::string_view ranks) const;

  // Forgets types of placed values that are gone, from time to time.
  void drop_types();

  // The user's name in it, unless the table has given its slot to another.
  std::string_view lost_name(const grad::Lost& lost) const;

  // Appends what a later line can depend on, line numbers apart, as one text;
  // places are visited in the same order.
  void state(std::string& text, const PlaceVisitor& visit);

 private:
  // What one free line may name: nothing beside what has ranks, and nothing of
  // two name spaces, whose ranks are others.
  struct Frees {
    std::string unplaced;
    std::vector<std::pair<std::string, std::string>> placed;  // by name space
  };

  SymbolId named(SymbolId id);
  void clear(SymbolId id);
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
