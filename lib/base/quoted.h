// Text in double quotes, with backslashes before what cannot stand there.
#pragma once

#include <string>
#include <string_view>

namespace gt {

// What a notation of quoted text does beside \" and \\, which all have.
struct Escapes {
  std::string_view with_letters;  // the characters that are written as a letter
  std::string_view letters;       // these, in the same order
  std::string_view hex;       // what stands before the two digits of a control
  std::string_view also_hex;  // what is written as controls are
};

std::string quoted(std::string_view text, const Escapes& escapes);

}  // namespace gt
