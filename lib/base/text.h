// Numbers and words read from text, without locales.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gt {

// Reads a decimal number; false unless it is the whole text and fits in the
// type. The spellings are those of std::from_chars: no blanks, no '+'.
template <typename Number>
bool read_number(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && next == end;
}

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Removes the first word and the separators before it from `rest`. Returns the
// word, or "" when there is none. Words are separated by the characters of
// `between`.
inline std::string_view take_word(std::string_view& rest,
                                  std::string_view between = " \t") {
  const size_t begin = rest.find_first_not_of(between);
  if (begin == std::string_view::npos) return rest = {};
  const std::string_view from = rest.substr(begin);
  const std::string_view word = from.substr(0, from.find_first_of(between));
  rest = from.substr(word.size());
  return word;
}

// Returns all words of the text, in order.
inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::string_view word = take_word(text);
    if (word.empty()) return words;
    words.push_back(word);
  }
}

// True if `word` is one of the words of the text, which are separated as for
// take_word().
inline bool has_word(std::string_view text, std::string_view word,
                     std::string_view between = " \t") {
  while (true) {
    const std::string_view next = take_word(text, between);
    if (next.empty() || next == word) return !next.empty();
  }
}

// Returns a duration in seconds, rounded to a tenth: "1.5 s".
inline std::string seconds_text(int64_t milliseconds) {
  const int64_t tenths = (milliseconds + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace gt
