// The values of names as gt-route sees them: the type of what each name holds,
// and where it lives. A stamp tells whether a number still means its name and
// type. An unplaced value is on one worker or on several.
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
  uint64_t cost = 0;
  SourceLine source;
};

using Holders = SmallVector<uint32_t, 4>;

struct Home : StampedValue {
  // Of an unplaced one: the workers that have its value, first the one that
  // made it; and the work that this one had been given when it was bound.
  Holders holders;
  uint64_t ready = 0;
  // Not 0: the line that makes its value waits, see held_lines.h, and the
  // holders are those of the value before.
  uint64_t held = 0;
  // The worker that read it last, plus 1. It outlives the value, so that the
  // next one of that name is made where it will be wanted.
  uint32_t wanted_by = 0;
  // Work on it that was done where it is, though it would have been done sooner
  // elsewhere, see place().
  uint64_t waited = 0;
  Shared<PureLine> recipe;  // of a value that may as well be made again
  Shared<Ranks> ranks;      // of a placed one: ascending

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
  // The type of the piece on that rank, of parts(); kNoType if there is none.
  // An unplaced value is on rank 0 of the empty mesh, its only one.
  TypeId piece(std::span<const HomeId> parts, int64_t rank,
               const TypeIds& types) const;
  static TypeId piece_of(const Home& home, int64_t rank, const TypeIds& types);

  // Binds a symbol; of a placed one, the others of its name give up its ranks.
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
  void fail(HomeId id, FailureText why, TypeIds& types);
  void release(HomeId id);
  // What others have too is no longer on that worker.
  void lose(uint32_t worker);
  // How often a symbol gave up ranks to another.
  uint64_t carved() const { return carved_; }
  // Takes ranks from all symbols of the name.
  void carve(std::string_view base, const Ranks& ranks, TypeIds& types);
  // Makes a symbol of these ranks alone, all of which are live.
  HomeId separate(std::string_view base, const Ranks& ranks, TypeIds& types);

  // Starts the table of types afresh with those of live values.
  void renumber_types(TypeIds& types);

 private:
  void claim(HomeId id, TypeId type, TypeIds& types);

  uint64_t carved_ = 0;
};

}  // namespace gt::route
