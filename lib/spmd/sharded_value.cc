#include "spmd/sharded_value.h"

#include <algorithm>
#include <map>

namespace gt {

size_t position_of(int64_t rank, const std::vector<int64_t>& ranks) {
  if (ranks.empty()) return 0;
  const int64_t step = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  const int64_t guess = (rank - ranks[0]) / step;
  if (guess >= 0 && static_cast<size_t>(guess) < ranks.size() &&
      ranks[static_cast<size_t>(guess)] == rank) {
    return static_cast<size_t>(guess);
  }
  return static_cast<size_t>(std::find(ranks.begin(), ranks.end(), rank) -
                             ranks.begin());
}

size_t extent_along(const Axis& axis, const std::vector<int64_t>& ranks) {
  std::vector<bool> seen(static_cast<size_t>(axis.size));
  for (const int64_t rank : ranks) {
    seen[static_cast<size_t>(axis.coordinate(rank))] = true;
  }
  return static_cast<size_t>(std::count(seen.begin(), seen.end(), true));
}

namespace {

// Counts the ranks that differ along the axis alone, by the rank at their
// origin.
std::map<int64_t, size_t> lines_along(const Axis& axis,
                                      const std::vector<int64_t>& ranks) {
  std::map<int64_t, size_t> lines;
  for (const int64_t rank : ranks) ++lines[axis.origin(rank)];
  return lines;
}

}  // namespace

bool has_whole_lines(const Axis& axis, const std::vector<int64_t>& some,
                     const std::vector<int64_t>& all) {
  const auto whole = lines_along(axis, all);
  const auto lines = lines_along(axis, some);
  return std::all_of(lines.begin(), lines.end(), [&](const auto& line) {
    const auto it = whole.find(line.first);
    return it != whole.end() && it->second == line.second;
  });
}

namespace {

// Returns the size of one dimension of the whole; -1 if the pieces do not fit.
int64_t whole_size(const ShardedValue& value, size_t dim) {
  const SpecEntry none;
  const SpecEntry& entry =
      value.type.is_sharded() ? value.type.spec[dim] : none;
  int64_t places = 1;
  for (const Axis& axis : entry) places *= axis.size;
  std::vector<int64_t> sizes(static_cast<size_t>(places), -1);
  int64_t sum = 0;
  for (size_t p = 0; p < value.pieces.size(); ++p) {
    int64_t place = 0;
    for (const Axis& axis : entry) {
      place = place * axis.size + axis.coordinate(value.ranks[p]);
    }
    const int64_t size = value.pieces[p].shape[dim];
    int64_t& known = sizes[static_cast<size_t>(place)];
    if (known < 0) {
      known = size;
      sum += size;
    }
    if (known != size) return -1;
  }
  return sum;
}

}  // namespace

std::optional<Type> whole_of(const ShardedValue& value) {
  if (value.pieces.empty()) return std::nullopt;
  Type whole = value.pieces[0];
  if (!value.is_placed()) return whole;
  const size_t dims = whole.shape.size();
  if (value.type.is_sharded() && value.type.spec.size() != dims) {
    return std::nullopt;
  }
  for (const Type& piece : value.pieces) {
    if (piece.dtype != whole.dtype || piece.shape.size() != dims) {
      return std::nullopt;
    }
  }
  for (size_t d = 0; d < dims; ++d) {
    const int64_t size = whole_size(value, d);
    if (size < 0) return std::nullopt;
    whole.shape[d] = size;
  }
  if (!check_size(whole).ok()) return std::nullopt;
  return whole;
}

}  // namespace gt
