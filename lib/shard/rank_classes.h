// Divides ranks into classes: ranks that occurred in the same sets, and in no
// others, are one class. So what holds for one of them holds for all, and a
// line of 1,000 equal ranks costs what a line of one rank does.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "spmd/rank_set.h"

namespace gt::shard {

class RankClasses {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Returns the number of a set of ranks. If it is new, the classes are split
  // of which it has only some ranks, and its ranks that no set had become one.
  uint32_t set_of(const Ranks& ranks);
  const Ranks& ranks(uint32_t set) const { return sets_[set].ranks; }
  // Returns the classes that the set consists of, in ascending order.
  const std::vector<uint32_t>& classes(uint32_t set) const {
    return sets_[set].classes;
  }
  // Returns how many classes there are.
  size_t size() const { return members_.size(); }
  // Returns the class that this one was split from, which has a lower number;
  // kNone if it was split from none.
  uint32_t origin(uint32_t made) const { return origins_[made]; }

  // Returns the first rank of each class of the set, in ascending order; and
  // all ranks of the classes that have these first ranks.
  Ranks first_ranks(const Ranks& ranks);
  Ranks all_ranks(const Ranks& first) const;

 private:
  struct Hash {
    size_t operator()(const Ranks& ranks) const;
  };
  struct Set {
    Ranks ranks;
    std::vector<uint32_t> classes;
  };
  std::vector<uint32_t> find_classes(const Ranks& ranks);
  uint32_t split(uint32_t from, const Ranks& away);

  std::vector<uint32_t> class_of_;  // by rank; kNone: no set had it
  std::vector<Ranks> members_;      // by class
  std::vector<uint32_t> origins_;   // by class
  std::vector<Set> sets_;
  std::unordered_map<Ranks, uint32_t, Hash> set_by_ranks_;
};

}  // namespace gt::shard
