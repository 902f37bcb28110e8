// The classes of bytes that the words of a line are made of, in one table: the
// parser asks it for every byte.
#pragma once

#include <array>
#include <cstdint>

namespace gt {

enum CharClass : uint8_t {
  kIdentFirst = 1,   // begins a name: A-Z a-z _
  kIdentRest = 2,    // continues a name: A-Z a-z _ 0-9 . /
  kNumberFirst = 4,  // begins a number: 0-9 + - .
  kOfRanks = 8,      // occurs in a rank set: 0-9 , : - +
  kPlain = 16        // printable, and neither quote nor '@'
};

inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (unsigned c = 0x21; c < 0x7f; ++c) {
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (letter) classes[c] |= kIdentFirst;
    if (letter || digit || c == '.' || c == '/') classes[c] |= kIdentRest;
    if (digit || c == '+' || c == '-' || c == '.') classes[c] |= kNumberFirst;
    if (digit || c == ',' || c == ':' || c == '-' || c == '+') {
      classes[c] |= kOfRanks;
    }
    if (c != '"' && c != '@') classes[c] |= kPlain;
  }
  return classes;
}();

inline bool has_class(char c, CharClass kind) {
  return (kCharClasses[static_cast<unsigned char>(c)] & kind) != 0;
}

}  // namespace gt
