// What a name holds: its pieces' types and what they are together.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spmd/placement.h"
#include "stream/type.h"

namespace gt {

struct ShardedValue {
  enum class State : uint8_t {
    kTyped,
    kSoft,    // a constant of no ranks: R to whoever reads it
    kUnknown  // after an error, or never declared: its readers are silent
  };
  State state = State::kUnknown;
  std::vector<int64_t> ranks;  // empty: of no ranks, a whole
  std::vector<int64_t>
      bound;  // what ranks were, if some hold another value now
  Placement type;
  std::vector<Type> pieces;  // by ranks, or the whole; empty: unknown
  bool carries_gradient = false;

  bool is_placed() const { return !ranks.empty(); }
  friend bool operator==(const ShardedValue&, const ShardedValue&) = default;
};

// The whole that the pieces are parts of; nothing when they do not fit
// together as the type says, or are not known.
std::optional<Type> whole_of(const ShardedValue& value);

// Where the rank stands among them; their number if it does not. Quick for runs
// and steps, which rank sets are.
size_t position_of(int64_t rank, const std::vector<int64_t>& ranks);

// How many coordinates along the axis occur among the ranks.
size_t extent_along(const Axis& axis, const std::vector<int64_t>& ranks);

// Whether of the ranks that differ along the axis alone some have all or none.
bool has_whole_lines(const Axis& axis, const std::vector<int64_t>& some,
                     const std::vector<int64_t>& all);

}  // namespace gt
