#include "base/message.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

#include "base/printable.h"
#include "base/utf8.h"

namespace gt {
namespace {

constexpr size_t kShownColumns = 72;

bool is_same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

// Returns where the character begins that the byte at `at` belongs to.
size_t begin_of(std::string_view text, size_t at) {
  for (size_t back = 0; back < 4 && back <= at; ++back) {
    if (first_character(text.substr(at - back)).bytes > back) return at - back;
  }
  return at;
}

constexpr size_t kLongestWord = 64;

// Returns how many letters are inserted, left out, changed, or swapped with
// their neighbour, for words whose lengths differ by less than `limit`. From
// `limit` on the exact number does not matter. Source: the optimal string
// alignment distance.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  std::array<std::array<size_t, 2 * kLongestWord>, 3> rows;
  std::iota(rows[0].begin(), rows[0].end(), size_t{0});
  size_t least = 0;
  for (size_t i = 1; i <= a.size(); ++i) {
    const auto& before = rows[(i + 1) % 3];
    const auto& row = rows[(i + 2) % 3];
    auto& next = rows[i % 3];
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, change});
      if (i == 1 || j == 1) continue;
      if (a[i - 1] != b[j - 2] || a[i - 2] != b[j - 1]) continue;
      next[j] = std::min(next[j], before[j - 2] + 1);
    }
    // A swap reads the row before the last.
    const size_t last_least = std::exchange(
        least, *std::min_element(next.begin(), next.begin() + b.size() + 1));
    if (std::min(last_least, least) >= limit) return limit;
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string to_string(const Place& place) {
  std::string out(place.file);
  if (place.line != 0) out += ":" + std::to_string(place.line);
  return out;
}

std::string format_error(std::string_view program, const Place& place,
                         const Error& error, std::string_view line) {
  std::string out(program);
  const std::string where = printable(to_string(place));
  if (!where.empty()) out += ": " + where;
  out += ": " + printable(error.message) + "\n";
  if (line.empty()) return out;
  const size_t column = std::min(error.column, line.size() + 1);
  const bool is_late = column > kShownColumns - 8;
  const size_t first = is_late ? begin_of(line, column - kShownColumns / 2) : 0;
  const size_t last =
      begin_of(line, std::min(first + kShownColumns, line.size()));
  const std::string margin = is_late ? "  ..." : "  ";
  out += margin + printable(line.substr(first, last - first)) +
         (last < line.size() ? "..." : "") + "\n";
  if (column == 0) return out;
  const std::string before = printable(line.substr(first, column - 1 - first));
  out += std::string(margin.size() + columns_of(before), ' ') + "^\n";
  return out;
}

std::string excerpt(std::string_view text) {
  constexpr size_t kLength = 40;
  if (text.size() <= kLength) return printable(text);
  return printable(text.substr(0, begin_of(text, kLength))) + "...";
}

std::string_view nearest(std::string_view word,
                         const std::vector<std::string_view>& candidates) {
  for (const std::string_view candidate : candidates) {
    if (is_same_but_for_case(word, candidate)) return candidate;
  }
  // Quadratic work on hostile input is not worth a suggestion; and for a word
  // of one letter any letter is near.
  if (word.size() < 2 || word.size() > kLongestWord) return "";
  std::string_view best;
  size_t best_distance = word.size() < 3 ? 2 : 1 + word.size() / 3;
  for (std::string_view candidate : candidates) {
    if (best_distance == 1) break;
    if (candidate.size() >= word.size() + best_distance ||
        word.size() >= candidate.size() + best_distance) {
      continue;
    }
    const size_t distance = edit_distance(word, candidate, best_distance);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word,
                         const std::vector<std::string_view>& candidates) {
  const std::string_view guess = nearest(word, candidates);
  if (guess.empty()) return "";
  return "; did you mean '" + std::string(guess) + "'?";
}

}  // namespace gt
