// A claim is what the notes #type= and #spec= state about the placement of a
// result. It is compared with the placement that was inferred: it may give a
// type to axes that have none, say which dimension a V shards, weaken S(i) to
// V, and declare that a V is a partial sum, P. Any other difference is a fault
// (gt-check(1)).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ends.h"
#include "spmd/axis_names.h"
#include "spmd/fault.h"

namespace gt {

// One item of #type=, "dp:S0". A single letter for all axes, "R", is one item
// whose axis is "".
struct TypeItem {
  std::string_view axis;
  std::string_view end;  // what parse_end() reads (ops/ends.h)
};
// Returns the items of "dp:S0,tp:R", as views into the text.
std::vector<TypeItem> type_items(std::string_view text);
// Returns the names of axes in "dp+tp,-", for each dimension, outer axes first.
std::vector<std::vector<std::string_view>> spec_items(std::string_view text);

// Both notes parsed, with the axes that their names stand for.
struct Claim {
  struct Item {
    std::vector<Axis> axes;
    End end;
    // Returns the letter in a Placement, where a shard is a V and the spec has
    // its dimension.
    char letter() const { return end.letter == 'S' ? 'V' : end.letter; }
  };
  std::vector<Item> items;  // of #type=
  bool all = false;         // one letter for all axes: items[0] has no axes
  bool has_spec = false;
  std::vector<SpecEntry> spec;  // of #spec=, by dimension
};
// Parses both notes' values, which may be empty. Returns nothing, and adds a
// fault, if an axis is unknown, no mesh is declared, an axis stands twice, or
// axes overlap in ranks.
std::optional<Claim> parse_claim(std::string_view type, std::string_view spec,
                                 const AxisNames& names, TypeFaults& faults);

// A claim about one result, and what must be known to judge it.
struct ClaimIn {
  std::string type, spec;  // the notes' parts about this result
  const AxisNames& names;
  const std::vector<Axis>& within;  // axes along which the line's ranks differ
  size_t dims;                      // of the result's pieces
  // The line is a creation or a load: it may claim that equal copies (R) are I
  // or P.
  bool is_source;
  bool is_local_mode;  // shards are not followed on any axis
  std::function<bool(const Axis&)> is_local;  // shards are not followed on this
                                              // axis
  // If true, a contradiction only leaves the axis as it was inferred, and the
  // rest of the claim holds.
  bool passes_over;
};
// Returns the placement `known` (without axes if nothing is known) together
// with what is claimed. Returns nothing, and adds a fault, if they contradict
// each other.
std::optional<Placement> claimed(const ClaimIn& in, const Placement& known,
                                 TypeFaults& faults);

}  // namespace gt
