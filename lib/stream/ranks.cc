#include "stream/ranks.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "base/message.h"

namespace gt {
namespace {

bool read_rank(const char*& p, const char* end, int64_t& value) {
  const auto [next, error] = std::from_chars(p, end, value);
  if (error != std::errc{} || value < 0) return false;
  p = next;
  return true;
}

// Reads one of "3", "0-7", "0-6:2" and appends it to `ranks`. Sets `largest` to
// the largest number in it; nothing is appended if that is above kMaxRank.
bool read_run(const char*& p, const char* end, std::vector<int64_t>& ranks,
              int64_t& largest) {
  int64_t first = 0;
  int64_t step = 1;
  if (!read_rank(p, end, first)) return false;
  int64_t last = first;
  if (p < end && *p == '-') {
    if (!read_rank(++p, end, last) || last < first) return false;
    if (p < end && *p == ':' && (!read_rank(++p, end, step) || step == 0)) {
      return false;
    }
  }
  largest = std::max(last, step);
  if (largest > kMaxRank) return true;
  for (int64_t rank = first; rank <= last; rank += step) {
    ranks.push_back(rank);
  }
  return true;
}

}  // namespace

Result<std::vector<int64_t>> parse_ranks(std::string_view text) {
  const auto error = [text] {
    return Error{"'" + excerpt(text) +
                 "' is not a rank set such as 3, 0-7, 0-6:2 or 0,2"};
  };
  std::vector<int64_t> ranks;
  const char* p = text.data();
  const char* end = p + text.size();
  for (;;) {
    int64_t largest = 0;
    if (!read_run(p, end, ranks, largest)) return error();
    if (largest > kMaxRank) {
      return Error{"rank " + std::to_string(largest) + " is above " +
                   std::to_string(kMaxRank) + ", the last there is"};
    }
    if (ranks.size() > static_cast<size_t>(kMaxRank) + 1) return error();
    if (p == end) break;
    if (*p++ != ',') return error();
  }
  if (std::adjacent_find(ranks.begin(), ranks.end(),
                         std::greater_equal<int64_t>()) == ranks.end()) {
    return ranks;  // the ranks ascend, as they mostly do
  }
  std::vector<int64_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Error{"rank set '" + excerpt(text) + "' names a rank twice"};
  }
  return ranks;
}

std::string to_string(const std::vector<int64_t>& ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    const int64_t step = i + 1 < ranks.size() ? ranks[i + 1] - ranks[i] : 0;
    if (step > 0) {
      while (last + 1 < ranks.size() && ranks[last + 1] - ranks[last] == step) {
        ++last;
      }
    }
    // A step needs three members before it is shorter than a list.
    if (step != 1 && last - i < 2) last = i;
    if (!out.empty()) out += ',';
    out += std::to_string(ranks[i]);
    if (last > i) {
      out += "-" + std::to_string(ranks[last]);
      if (step != 1) out += ":" + std::to_string(step);
    }
    i = last + 1;
  }
  return out;
}

bool is_placed(const Line& line) {
  for (const Name& name : line.results) {
    if (!name.ranks.empty()) return true;
  }
  for (const Operand& operand : line.operands) {
    if (!operand.ranks.empty()) return true;
  }
  return false;
}

std::string full_name(std::string_view name, std::string_view ranks) {
  std::string out(name);
  if (!ranks.empty()) out.append(1, '@').append(ranks);
  return out;
}

}  // namespace gt
