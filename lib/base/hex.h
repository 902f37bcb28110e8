// Numbers and bytes as hexadecimal digits in lower case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gt {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// Appends the last `digits` hexadecimal digits of the number.
inline void append_hex(std::string& out, uint64_t number, int digits) {
  for (int i = digits - 1; i >= 0; --i) {
    out += kHexDigits[number >> (4 * i) & 15];
  }
}

// Returns the bytes as text, two digits each.
inline std::string to_hex(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) append_hex(out, static_cast<unsigned char>(c), 2);
  return out;
}

// Reads bytes from two lower-case digits each. Returns false, and may leave
// `bytes` half written, if the text is not exactly that many digits.
inline bool from_hex(std::string_view text, std::span<char> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t high = kHexDigits.find(text[2 * i]);
    const size_t low = kHexDigits.find(text[2 * i + 1]);
    if (high == kHexDigits.npos || low == kHexDigits.npos) return false;
    bytes[i] = static_cast<char>(high * 16 + low);
  }
  return true;
}

}  // namespace gt
