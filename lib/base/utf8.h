// UTF-8 (RFC 3629) in text of which nothing is known beforehand.
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

// The character that a text begins with. None is: the empty text, a form that
// is longer than it need be, a surrogate, and what lies beyond U+10FFFF.
Utf8Character first_character(std::string_view text);

void append_utf8(std::string& out, uint32_t code);

bool is_utf8(std::string_view text);

}  // namespace gt
