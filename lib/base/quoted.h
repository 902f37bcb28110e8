// Writes text in double quotes, with escapes for what cannot stand there.
#pragma once

#include <string>
#include <string_view>

namespace gt {

// The escapes of a notation for quoted text, besides \" and \\, which every
// notation has.
struct Escapes {
  std::string_view with_letters;  // characters written as '\' and a letter
  std::string_view letters;       // those letters, in the same order
  std::string_view hex;           // the text before a control byte's two digits
  std::string_view also_hex;      // characters written as control bytes are
};

std::string quoted(std::string_view text, const Escapes& escapes);

}  // namespace gt
