// Registers as gt-route sees them: the type of what each holds, and where it
// lives. A stamp tells whether a number still means its name and type.
//
// An unplaced name is one register, its value on one worker or on several. A
// placed name is a register for each rank set under which it was bound, sets
// that have no rank in common: binding x@0-1 leaves x@2-3 of x@0-3.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/name_numbers.h"
#include "base/shared.h"
#include "base/small_vector.h"
#include "route/type_numbers.h"
#include "spmd/rank_set.h"

namespace gt {

using HomeId = uint32_t;
inline constexpr HomeId kNoHome = UINT32_MAX;

// Where a line stood in the input. Lines of one file share its name.
struct SourceLine {
  std::shared_ptr<const std::string> file;
  uint64_t line = 0;
};

struct HomeStamp {
  TypeNumbers::Id type = TypeNumbers::kNone;
  uint32_t generation = 0;  // grows when the number gets another name
  friend bool operator==(const HomeStamp&, const HomeStamp&) = default;
};

// A line that makes the same value wherever and whenever it runs.
struct PureLine {
  std::string text;
  uint64_t cost = 0;
  SourceLine source;
};

using Holders = SmallVector<uint32_t, 4>;

struct Home {
  HomeStamp stamp;
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

  bool is_live() const { return stamp.type != TypeNumbers::kNone; }
  bool has_failed() const { return stamp.type == TypeNumbers::kFailed; }
  bool is_on(uint32_t worker) const {
    for (const uint32_t holder : holders) {
      if (holder == worker) return true;
    }
    return false;
  }
};

// What a failed value says, also when it spreads.
using FailureText = std::shared_ptr<const std::string>;

class Homes {
 public:
  Home& operator[](HomeId id) { return homes_[id]; }
  const Home& operator[](HomeId id) const { return homes_[id]; }
  std::string_view name_of(HomeId id) const { return names_.name_of(id); }

  // A live unplaced name, or kNoHome.
  HomeId find(std::string_view name) const;
  // Live registers of a placed name.
  const std::vector<HomeId>& pieces(std::string_view base) const;
  // The type of the piece on that rank, of pieces(); kNone if there is none. An
  // unplaced value is on rank 0 of the empty mesh, its only one.
  TypeNumbers::Id piece(std::span<const HomeId> pieces, int64_t rank,
                        const TypeNumbers& types) const;
  static TypeNumbers::Id piece_of(const Home& home, int64_t rank,
                                  const TypeNumbers& types);

  // The register of a name, live or not. All that are obtained since
  // begin_line() keep their names until the next.
  void begin_line() { names_.begin_line(); }
  HomeId obtain(std::string_view name);
  HomeId obtain_piece(std::string_view base, const Ranks& ranks);
  void keep(HomeId id) { names_.keep(id); }  // as if just obtained

  // Binds a register; of a placed one, the others of its name give up its
  // ranks.
  void bind(HomeId id, TypeNumbers::Id type, TypeNumbers& types) {
    Home& home = homes_[id];
    if (!failures_.empty()) failures_.erase(id);
    if (home.recipe) home.recipe.reset();
    home.waited = 0;
    if (home.is_live() || !home.ranks) {
      home.stamp.type = type;
    } else {
      claim(id, type, types);
    }
  }
  void fail(HomeId id, FailureText why, TypeNumbers& types);
  // Of a register some of whose pieces failed.
  void note_failure(HomeId id, FailureText why) {
    failures_[id] = std::move(why);
  }
  // Null if nothing of it is known to have failed.
  FailureText failure_of(HomeId id) const;
  bool has_failures() const { return !failures_.empty(); }
  void release(HomeId id);
  // How often a register gave up ranks to another.
  uint64_t carved() const { return carved_; }
  // Takes ranks from all registers of the name.
  void carve(std::string_view base, const Ranks& ranks, TypeNumbers& types);
  // Makes a register of these ranks alone, all of which are live.
  HomeId separate(std::string_view base, const Ranks& ranks,
                  TypeNumbers& types);

  // Whether a live placed name begins so.
  bool has_pieces_under(std::string_view prefix) const;
  // Starts the table of types afresh with those of live values.
  void renumber_types(TypeNumbers& types);
  // Names for a spelling suggestion: not all, when there are very many.
  std::vector<std::string_view> some_live_names() const;
  size_t size() const { return homes_.size() + pieces_.size(); }

 private:
  void claim(HomeId id, TypeNumbers::Id type, TypeNumbers& types);

  std::vector<Home> homes_;
  NameNumbers names_;
  std::unordered_map<std::string, std::vector<HomeId>, TextHash,
                     std::equal_to<>>
      pieces_;  // by name without ranks
  std::unordered_map<HomeId, FailureText> failures_;
  uint64_t carved_ = 0;
};

}  // namespace gt
