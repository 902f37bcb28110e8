// Colours: whether a terminal takes them, and those of messages.
#pragma once

#include <string>
#include <string_view>

namespace gt {

// True if colours may be written to the descriptor: it is a terminal that is
// not "dumb", and NO_COLOR is not set, or empty (https://no-color.org).
bool takes_color(int fd);

// Returns the lines of a message with its program, its severity and its caret
// in colours; they are in the form of format_error().
std::string painted(std::string_view text);

}  // namespace gt
