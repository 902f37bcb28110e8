// Numbers and bytes as hexadecimal digits in lower case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gt {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// The last so many digits of the number.
inline void append_hex(std::string& out, uint64_t number, int digits) {
  for (int i = digits - 1; i >= 0; --i) {
    out += kHexDigits[number >> (4 * i) & 15];
  }
}

// Two digits of each byte.
inline std::string to_hex(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) append_hex(out, static_cast<unsigned char>(c), 2);
  return out;
}

// False, with `bytes` half written, unless the text is digits for exactly them.
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
