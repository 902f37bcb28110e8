// Reaches: sets of leaves. The reach of a value is the set of values requiring
// a gradient that it was computed from; backward() differentiates by these. A
// reach is the number of a set that is stored once (hash consing), so that a
// training loop, which makes the same sets in each round, adds no new ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/interner.h"

namespace gt::client {

using LeafId = uint32_t;
using Reach = IdTable::Id;

class Reaches {
 public:
  static constexpr Reach kNone = 0;  // the empty set
  // The numbers of sets and of joined pairs at which is_full() holds.
  static constexpr size_t kMost = 1 << 16;

  // Returns the set of this leaf alone; join() the union of two sets.
  Reach of(LeafId leaf) { return sets_.id({leaf}); }
  Reach join(Reach a, Reach b) {
    if (a == b || b == kNone) return a;
    if (a == kNone) return b;
    if (a > b) std::swap(a, b);
    const auto [known, is_new] =
        joined_.try_emplace(uint64_t{a} << 32 | b, kNone);
    if (is_new) {
      std::vector<LeafId> all;
      std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(),
                     sets_[b].end(), std::back_inserter(all));
      known->second = sets_.id(std::move(all));
    }
    return known->second;
  }
  // Returns the leaves of a set, in the order of their numbers.
  const std::vector<LeafId>& leaves(Reach reach) const { return sets_[reach]; }

  // True if there are so many sets that the unused ones should be removed.
  bool is_full() const {
    return sets_.size() > kMost || joined_.size() > kMost;
  }
  // Removes all sets but those for which is_used(reach) is true.
  template <typename IsUsed>
  void keep_only(const IsUsed& is_used) {
    joined_.clear();
    sets_.keep_only(is_used);
  }

 private:
  struct SetHash {
    size_t operator()(const std::vector<LeafId>& set) const {
      return hash_bytes({reinterpret_cast<const char*>(set.data()),
                         set.size() * sizeof set[0]});
    }
  };
  Interner<std::vector<LeafId>, SetHash> sets_{1};
  std::unordered_map<uint64_t, Reach> joined_;  // the union, by the two sets
};

}  // namespace gt::client
