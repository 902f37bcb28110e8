// What is meant by a word that other programs print for a number, and that is
// none here.
#pragma once

#include <string>
#include <string_view>

namespace gt {

// Returns a hint for words such as -nan, NaN and Infinity; "" for others.
inline std::string_view number_hint(std::string_view word) {
  constexpr size_t kLongest = 8;  // "infinity"
  const bool has_sign = word.starts_with('-') || word.starts_with('+');
  if (has_sign) word.remove_prefix(1);
  if (word.size() > kLongest) return "";
  std::string text;
  for (const char c : word) {
    text += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  if (text == "nan") return "; what is no number is nan, without a sign";
  if (text == "inf" || text == "infinity") {
    return "; the infinities are inf and -inf";
  }
  return "";
}

}  // namespace gt
