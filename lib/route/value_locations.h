// ValueLocations: the symbol table of gt-route (program/symbol_table.h). The
// entry of a register says what type its value has and on which workers the
// value is. gt-route has no values itself.
//
// Four things say where something is or runs, and are easily confused:
//
//   ValueLocation  a register; where its value is now, changed by each line
//   Route          a line; what it does, kept while the types hold (route.h)
//   RankTable      a rank of a name space; the worker that plays it, for the
//                  whole run. So a value with ranks has no holders here
//   Placer         the worker that a line without ranks is to run on this time,
//                  chosen from locations and loads, and not kept
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/small_vector.h"
#include "program/symbol_table.h"
#include "program/type_ids.h"

namespace gt::route {

// The place of a line in the input. Lines of one file share the file's name.
struct SourceLine {
  std::shared_ptr<const std::string> file;
  uint64_t line = 0;
};

// A line that makes the same value wherever and whenever it runs.
struct PureLine {
  std::string text;
  uint64_t cost = 0;  // nanoseconds
  SourceLine source;
};

using Holders = SmallVector<uint32_t, 4>;  // workers

struct ValueLocation : StampedValue {
  // For a value without ranks: the workers that have it, or will have it when
  // they have done what was issued to them. The first one makes it, the others
  // get copies.
  Holders holders;
  // The work that the first holder had been given (Loads::issued(), in
  // nanoseconds) when the value was bound: the value is there once that is
  // done.
  uint64_t ready = 0;
  // If not 0, the line that makes the value has not been issued: this is its
  // key in HeldLines, and `holders` are those of the value before.
  uint64_t held = 0;
  // The worker that read the value last, plus 1; 0 if none did. It is kept when
  // the value dies, so that the next value of that name is made there.
  uint32_t wanted_by = 0;
  // How many nanoseconds later the lines that read the value came because they
  // were left where it is and not moved to another worker. The Placer adds them
  // up until they pay for a copy.
  uint64_t waited = 0;
  // The line that made the value, if another worker can run it again as well as
  // get a copy; else null.
  Shared<PureLine> recipe;
  Shared<Ranks> ranks;  // ascending; null if the name has none

  bool is_on(uint32_t worker) const {
    for (const uint32_t holder : holders) {
      if (holder == worker) return true;
    }
    return false;
  }
  void take_over() {
    StampedValue::take_over();
    ranks.reset();
    wanted_by = 0;
  }
};

class ValueLocations : public PlacedSymbolTable<ValueLocation> {
 public:
  // Returns the type of the piece on that rank among these parts of a name, as
  // parts() returns them; kNoType if none has the rank. A value without ranks
  // counts as the piece on rank 0.
  TypeId piece(std::span<const SymbolId> parts, int64_t rank,
               const TypeIds& types) const;
  static TypeId piece_of(const ValueLocation& location, int64_t rank,
                         const TypeIds& types);

  // Binds the register to a new value of that type that has not failed. If it
  // has ranks, other symbols of the same name lose these ranks. The caller sets
  // the holders.
  void bind(SymbolId id, TypeId type, TypeIds& types) {
    ValueLocation& location = (*this)[id];
    forget_failure(id);
    if (location.recipe) location.recipe.reset();
    location.waited = 0;
    if (location.is_live() || !location.ranks) {
      location.stamp.type = type;
    } else {
      claim(id, type, types);
    }
  }
  // Binds the register to a failure.
  void fail(SymbolId id, FailureText why, TypeIds& types);
  // Frees the register.
  void release(SymbolId id);
  // That worker is lost: removes it from the holders of values that another
  // worker holds too. Where it is the only holder it stays, and what reads the
  // value fails.
  void lose(uint32_t worker);
  // Returns how many symbols have lost ranks to another symbol of their name so
  // far.
  uint64_t carved() const { return carved_; }
  // Takes these ranks from all symbols of the name: each is replaced by one
  // that has the ranks it has left, if any.
  void carve(std::string_view base, const Ranks& ranks, TypeIds& types);
  // Returns the symbol of exactly these ranks of the name, each of which must
  // hold something. Symbols that had some of these ranks lose them.
  SymbolId separate(std::string_view base, const Ranks& ranks, TypeIds& types);

  // Builds the table of types anew, with the types of live values alone. All
  // type numbers kept elsewhere, as in routes, are void then.
  void renumber_types(TypeIds& types);

 private:
  void claim(SymbolId id, TypeId type, TypeIds& types);

  uint64_t carved_ = 0;
};

}  // namespace gt::route
