#include "base/printable.h"

#include <algorithm>

#include "base/hex.h"
#include "base/utf8.h"

namespace gt {
namespace {

// True for characters that are invisible, or that change how others are shown:
// Unicode's categories Cc, Cf (except the soft hyphen and signs of single
// scripts), Zl, Zp and Cn at the ends of planes.
bool is_hidden(uint32_t code) {
  struct Range {
    uint32_t first, last;
  };
  static constexpr Range kHidden[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},     {0x180e, 0x180e},
      {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0xfeff, 0xfeff},
      {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff},
  };
  return std::ranges::any_of(kHidden, [code](const Range& r) {
    return code >= r.first && code <= r.last;
  });
}

void append_visible(std::string& out, uint32_t code) {
  const bool is_byte = code < 0x80;
  const bool is_long = code > 0xffff;
  out += is_byte ? "\\x" : is_long ? "\\U" : "\\u";
  append_hex(out, code, is_byte ? 2 : is_long ? 8 : 4);
}

std::string shown(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.bytes == 0) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(text[0]), 2);
    } else if (c.code == '\t') {
      out += ' ';
    } else if (is_hidden(c.code) && !(keeps_lines && c.code == '\n')) {
      append_visible(out, c.code);
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(std::max<size_t>(c.bytes, 1));
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return shown(text, false); }

std::string printable_lines(std::string_view text) { return shown(text, true); }

size_t columns_of(std::string_view printable) {
  return static_cast<size_t>(std::ranges::count_if(printable, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace gt
