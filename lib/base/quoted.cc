#include "base/quoted.h"

#include "base/hex.h"

namespace gt {

std::string quoted(std::string_view text, const Escapes& escapes) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const size_t letter = escapes.with_letters.find(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (letter != std::string_view::npos) {
      out += '\\';
      out += escapes.letters[letter];
    } else if (byte < 0x20 ||
               escapes.also_hex.find(c) != std::string_view::npos) {
      out += escapes.hex;
      append_hex(out, byte, 2);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace gt
