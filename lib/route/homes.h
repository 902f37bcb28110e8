// Homes: the symbol table of gt-route (program/symbol_table.h). For each
// register, the home says of what type its value is and on which workers the
// value is. gt-route has no values itself.
//
// Where things run is said in four places, which are easily confused:
//
//   Home          a register; where its value is now, changed by each line
//   Route         a line; what it does, kept while the types hold (route.h)
//   RankTable     a rank of a name space; the worker that plays it, for the
//                 whole run. So a value with ranks has no holders here
//   Placer        the worker that a line without ranks shall run on this time,
//                 chosen from homes and loads, and kept nowhere
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

using HomeId = SymbolId;

// Where a line stood in the input. Lines of one file share its name.
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

struct Home : StampedValue {
  // Of a value without ranks: the workers that have it, or will when they have
  // done what was issued to them. The first one made it, the others got copies.
  Holders holders;
  // The work that the first holder had been given (Loads::issued(),
  // nanoseconds) when the value was bound: it is there once that is done.
  uint64_t ready = 0;
  // Not 0: the line that makes the value has not been issued. It is the line of
  // this key in HeldLines, and the holders are those of the value before.
  uint64_t held = 0;
  // The worker that read the value last, plus 1; 0: none did. It is kept when
  // the value dies, so that the next value of the name is made there.
  uint32_t wanted_by = 0;
  // Nanoseconds by which lines that read the value came later than on another
  // worker, since they were left where it is. The Placer adds them up, until
  // they pay for a copy.
  uint64_t waited = 0;
  // The line that made the value, if another worker may as well run it again
  // as get a copy; else null.
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

class Homes : public PlacedSymbolTable<Home> {
 public:
  // The type of the piece on that rank among these parts of a name, as parts()
  // gives them; kNoType if none has the rank. A value without ranks counts as
  // the piece on rank 0.
  TypeId piece(std::span<const HomeId> parts, int64_t rank,
               const TypeIds& types) const;
  static TypeId piece_of(const Home& home, int64_t rank, const TypeIds& types);

  // The register gets a new value of that type, which has not failed. If it has
  // ranks, other symbols of the same name lose these ranks. Holders are the
  // caller's to set.
  void bind(HomeId id, TypeId type, TypeIds& types) {
    Home& home = (*this)[id];
    forget_failure(id);
    if (home.recipe) home.recipe.reset();
    home.waited = 0;
    if (home.is_live() || !home.ranks) {
      home.stamp.type = type;
    } else {
      claim(id, type, types);
    }
  }
  // The register gets a failure for a value.
  void fail(HomeId id, FailureText why, TypeIds& types);
  // The register is freed.
  void release(HomeId id);
  // That worker is lost: it holds no value any longer that another worker holds
  // too. Where it is the only holder it stays, and what reads the value fails.
  void lose(uint32_t worker);
  // How many symbols have lost ranks to another symbol of their name so far.
  uint64_t carved() const { return carved_; }
  // Takes these ranks from all symbols of the name: each is replaced by one of
  // the ranks that it has left, if any.
  void carve(std::string_view base, const Ranks& ranks, TypeIds& types);
  // The symbol of exactly these ranks of the name, all of which hold something;
  // where they were ranks of others, those are carved.
  HomeId separate(std::string_view base, const Ranks& ranks, TypeIds& types);

  // Begins the table of types anew, with the types of live values alone. All
  // type numbers kept elsewhere, as in routes, are void then.
  void renumber_types(TypeIds& types);

 private:
  void claim(HomeId id, TypeId type, TypeIds& types);

  uint64_t carved_ = 0;
};

}  // namespace gt::route
