// The value that a name holds, for type checking: the ranks of its pieces,
// their types, and its Placement, which says what the pieces are together.
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
    kSoft,    // made of constants without ranks: its readers take it as R
    kUnknown  // after a fault, or never declared; lines that read it have no
              // fault because of it
  };
  State state = State::kUnknown;
  // The ranks of its pieces; empty if the name has no ranks.
  std::vector<int64_t> ranks;
  // The ranks on which the value was bound, if some of them hold another value
  // now; else empty.
  std::vector<int64_t> bound;
  Placement type;
  std::vector<Type> pieces;  // by `ranks`, or one, that of the whole; empty:
                             // unknown
  bool carries_gradient = false;  // gradients flow back through it

  bool is_placed() const { return !ranks.empty(); }
  friend bool operator==(const ShardedValue&, const ShardedValue&) = default;
};

// Returns the type of the whole that the pieces are parts of; nothing if the
// pieces are unknown, or do not fit together as the placement says.
std::optional<Type> whole_of(const ShardedValue& value);

// Returns the index of a rank in a list, or the list's size if it is not there.
// Needs no search if the list is an arithmetic sequence, as most are.
size_t position_of(int64_t rank, const std::vector<int64_t>& ranks);
// True if the rank is in the list.
inline bool contains(const std::vector<int64_t>& ranks, int64_t rank) {
  return position_of(rank, ranks) < ranks.size();
}

// Returns how many different coordinates along the axis the ranks have.
size_t extent_along(const Axis& axis, const std::vector<int64_t>& ranks);

// True if `some`, a subset of `all`, is made of whole lines along the axis: if,
// of the ranks of `all` that differ along it alone, it has either all or none.
bool has_whole_lines(const Axis& axis, const std::vector<int64_t>& some,
                     const std::vector<int64_t>& all);

}  // namespace gt
