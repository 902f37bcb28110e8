// Rank sets as they stand in a name behind '@': "3", "0-7", "0-6:2", "0,2,5",
// and sums of runs such as "0-1+0-24:8", which are 0,1,8,9,16,17,24,25. With
// these a part of a mesh that its axes bound has a short text, however many
// ranks it has. The ranks of a list keep the order of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/line.h"

namespace gt {

// The largest rank. A name as short as x@0-65535 stands for a piece on each
// rank, so the limit bounds the work that a line can cause.
inline constexpr int64_t kMaxRank = (int64_t{1} << 16) - 1;

// Errors: not a rank set, a rank above kMaxRank, a rank named twice.
Result<std::vector<int64_t>> parse_ranks(std::string_view text);

// Returns the canonical spelling: runs of a common step joined, the rest by
// commas, or a sum of runs if that is shorter.
std::string to_string(const std::vector<int64_t>& ranks);

// True if a name of the line has ranks.
bool is_placed(const Line& line);

// Returns "x@0-3" for "x" and "0-3", or the name alone if the ranks are "".
std::string full_name(std::string_view name, std::string_view ranks);
// Returns "x" for "x@0-3".
inline std::string_view without_ranks(std::string_view name) {
  return name.substr(0, name.find('@'));
}

}  // namespace gt
