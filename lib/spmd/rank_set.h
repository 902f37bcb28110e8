// Sets of ranks, as ascending lists, and the operations on them. A value
// without ranks has the empty set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

namespace gt {

using Ranks = std::vector<int64_t>;

// Returns the ranks in ascending order, which the functions below require.
inline Ranks ascending(Ranks ranks) {
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    std::sort(ranks.begin(), ranks.end());
  }
  return ranks;
}

// Returns the position of a rank in a set; nothing if it is not there. Needs no
// search for a set of consecutive ranks, as most are.
inline std::optional<size_t> place_in(const Ranks& ranks, int64_t rank) {
  if (ranks.empty() || rank < ranks.front() || rank > ranks.back()) return {};
  const auto from_first = static_cast<size_t>(rank - ranks.front());
  if (from_first < ranks.size() && ranks[from_first] == rank) {
    return from_first;
  }
  const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (*at != rank) return {};
  return static_cast<size_t>(at - ranks.begin());
}

inline bool includes(const Ranks& all, const Ranks& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

inline Ranks common(const Ranks& a, const Ranks& b) {
  if (a == b) return a;
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

// True if each pair of ranks, sources[i] and targets[i], or if there are not as
// many of both all of them, are among the same n: ranks 0 to n - 1, or n to
// 2 n - 1, ...
inline bool is_within(const Ranks& sources, const Ranks& targets, int64_t n) {
  const bool is_paired = sources.size() == targets.size();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] / n != sources[is_paired ? i : 0] / n) return false;
  }
  return true;
}

}  // namespace gt
