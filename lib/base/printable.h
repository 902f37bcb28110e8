// Text of anyone's, made fit to be shown to a person: nothing in it can move a
// cursor, colour or title a terminal, or put what follows into another order.
//
// Made visible are control characters (C0 and C1), characters that have no
// width or set the direction of writing, and bytes that are no UTF-8:
// "\x1b" for the byte 27, "\u202e" for the character U+202E.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gt {

// As one line: a tab becomes a blank, a newline "\x0a".
std::string printable(std::string_view text);
// As lines: newlines stay what they are.
std::string printable_lines(std::string_view text);

// How many columns a printable text takes, a character each.
size_t columns_of(std::string_view printable);

}  // namespace gt
