// Rank sets: "3", "0-7", "0-6:2", "0,2,5". Order as written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/line.h"

namespace gt {

// A short name can stand for that many, so it bounds what a line costs.
inline constexpr int64_t kMaxRank = (int64_t{1} << 16) - 1;

// Errors: not a rank set, a rank above kMaxRank, a rank named twice.
Result<std::vector<int64_t>> parse_ranks(std::string_view text);

// The canonical spelling: runs of a common step joined, the rest by commas.
std::string to_string(const std::vector<int64_t>& ranks);

bool is_placed(const Line& line);  // some name has ranks

// "x", or "x@0-3" of a name with ranks.
std::string full_name(std::string_view name, std::string_view ranks);
// The name of "x@0-3".
inline std::string_view without_ranks(std::string_view name) {
  return name.substr(0, name.find('@'));
}

}  // namespace gt
