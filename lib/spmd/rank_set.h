// Rank sets as sets: ascending lists. An unplaced value has none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace gt {

using Ranks = std::vector<int64_t>;

inline Ranks ascending(Ranks ranks) {
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

inline bool includes(const Ranks& all, const Ranks& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

inline Ranks common(const Ranks& a, const Ranks& b) {
  Ranks out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::back_inserter(out));
  return out;
}

inline Ranks without(const Ranks& a, const Ranks& b) {
  Ranks out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(),
                      std::back_inserter(out));
  return out;
}

inline Ranks together(const Ranks& a, const Ranks& b) {
  Ranks out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                 std::back_inserter(out));
  return out;
}

}  // namespace gt
