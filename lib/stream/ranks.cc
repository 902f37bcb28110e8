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

// Reads one of "3", "0-7", "0-6:2". Sets `largest` to the largest number in it;
// `ranks` is empty if that is above kMaxRank.
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
  ranks.clear();
  if (largest > kMaxRank) return true;
  for (int64_t rank = first; rank <= last; rank += step) {
    ranks.push_back(rank);
  }
  return true;
}

// Reads a run, or several with '+' between them: "0-1+0-24:8". Each member of
// the last run is added to all that the runs before it give. Appends the sums
// to `ranks` and sets `largest` as read_run() does.
bool read_block(const char*& p, const char* end, std::vector<int64_t>& ranks,
                int64_t& largest) {
  std::vector<int64_t> block;
  if (!read_run(p, end, block, largest)) return false;
  while (p < end && *p == '+') {
    std::vector<int64_t> run;
    int64_t most = 0;
    if (!read_run(++p, end, run, most)) return false;
    largest = std::max(largest, most);
    if (largest > kMaxRank) return true;
    if (block.size() * run.size() > static_cast<size_t>(kMaxRank) + 1) {
      return false;
    }
    std::vector<int64_t> sums;
    for (const int64_t b : run) {
      for (const int64_t a : block) sums.push_back(a + b);
    }
    largest = std::max(largest, *std::ranges::max_element(sums));
    if (largest > kMaxRank) return true;
    block = std::move(sums);
  }
  ranks.insert(ranks.end(), block.begin(), block.end());
  return true;
}

std::string run_text(int64_t first, int64_t last, int64_t step) {
  std::string out = std::to_string(first);
  if (last > first) out += "-" + std::to_string(last);
  if (last > first && step != 1) out += ":" + std::to_string(step);
  return out;
}

// Returns runs with commas between them.
std::string list_of_runs(const std::vector<int64_t>& ranks) {
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
    out += run_text(ranks[i], ranks[last], step);
    i = last + 1;
  }
  return out;
}

// Returns the ranks as a sum of runs, which is possible if they are a part of a
// mesh that its axes bound; "" if they are none. The run of the first ranks is
// found first, then that of the places where it is repeated, and so on.
std::string sum_of_runs(std::vector<int64_t> ranks) {
  std::string out;
  int64_t first = ranks[0];
  while (ranks.size() > 1) {
    const int64_t step = ranks[1] - ranks[0];
    size_t n = 2;
    while (n < ranks.size() && ranks[n] - ranks[n - 1] == step) ++n;
    if (step <= 0 || ranks.size() % n != 0) return "";
    std::vector<int64_t> starts;
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (i % n == 0) starts.push_back(ranks[i]);
      const auto offset = static_cast<int64_t>(i % n) * step;
      if (ranks[i] - starts.back() != offset) return "";
    }
    const int64_t length = static_cast<int64_t>(n - 1) * step;
    out += (out.empty() ? "" : "+") + run_text(first, first + length, step);
    ranks = std::move(starts);
    first = 0;  // of the runs that follow, which are added to it
  }
  return out;
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
    if (!read_block(p, end, ranks, largest)) return error();
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
  std::string list = list_of_runs(ranks);
  if (list.find(',') == list.npos) return list;
  std::string sum = sum_of_runs(ranks);
  return sum.empty() || sum.size() >= list.size() ? list : sum;
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
