// Makes text from untrusted input safe to print: nothing in it can move the
// cursor, set the colours or the title of a terminal, or reverse the order in
// which the following text is shown.
//
// Control characters (C0 and C1), characters that have no width or set the
// direction of writing, and bytes that are not UTF-8 are written as escapes:
// "\x1b" for the byte 27, "\u202e" for the character U+202E.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gt {

// Returns the text as one line: a tab becomes a blank, a newline "\x0a".
std::string printable(std::string_view text);
// Returns the text as several lines: newlines stay.
std::string printable_lines(std::string_view text);

// True for the control characters of ASCII: the bytes below 0x20, and 0x7f.
inline bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// Returns how many columns of the terminal a printable text takes: one for each
// character.
size_t columns_of(std::string_view printable);

}  // namespace gt
