// Reads and writes UTF-8 (RFC 3629). The text may hold any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gt {

struct Utf8Character {
  size_t bytes = 0;  // 0: the text does not begin with a character
  uint32_t code = 0;
};

// Returns the character at the beginning of the text. Its `bytes` is 0 if there
// is none: if the text is empty, or begins with an invalid byte, an overlong
// encoding, a surrogate, or a code beyond U+10FFFF.
Utf8Character first_character(std::string_view text);

// Appends the encoding of a code, which must be at most U+10FFFF.
void append_utf8(std::string& out, uint32_t code);

// True if all of the text is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace gt
