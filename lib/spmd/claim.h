// What the notes #type= and #spec= state, and what comes of it: held against
// what was inferred a claim may add axes, say which dimension a V shards,
// weaken Si to V, and make a V a pending sum (gt-check(1)).
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

// One item of #type=: "dp:S0"; of one for all axes, "R", the axis is "".
struct TypeItem {
  std::string_view axis;
  std::string_view end;  // as parse_end() reads it
};
// The items of "dp:S0,tp:R", which views the text.
std::vector<TypeItem> type_items(std::string_view text);
// The names of axes in "dp+tp,-", by dimension, the outer first.
std::vector<std::vector<std::string_view>> spec_items(std::string_view text);

// One statement of a type: both notes with their axes.
struct Claim {
  struct Item {
    std::vector<Axis> axes;
    End end;
    // An S counts as V where shards are not followed.
    char letter() const { return end.letter == 'S' ? 'V' : end.letter; }
  };
  std::vector<Item> items;
  bool all = false;  // one letter for all axes, in items[0] without axes
  bool has_spec = false;
  std::vector<SpecEntry> spec;
};
// Both texts may be empty. Faults: an unknown axis, none declared, axes
// that share ranks.
std::optional<Claim> parse_claim(std::string_view type, std::string_view spec,
                                 const AxisNames& names, TypeFaults& faults);

struct ClaimIn {
  std::string type, spec;  // of one result
  const AxisNames& names;
  const std::vector<Axis>& within;  // axes along which the ranks differ
  size_t dims;
  bool is_source;      // declares: what is R may be any but cut otherwise
  bool is_local_mode;  // on all axes
  std::function<bool(const Axis&)> is_local;
  bool passes_over;  // of what contradicts only the axis is left out
};
// What is known with what is claimed; nothing, and a fault, if they contradict.
std::optional<Placement> claimed(const ClaimIn& in, const Placement& known,
                                 TypeFaults& faults);

}  // namespace gt
