#include "log/escape.h"

#include <cstdint>
#include <initializer_list>

namespace gt {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Bytes of the character that `text` begins with; 0 if it is not one of UTF-8,
// overlong forms and surrogates among them.
size_t character(std::string_view text) {
  const auto byte = [text](size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  uint32_t value = first & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  const bool none = value == 0xfffe || value == 0xffff;  // XML has none of them
  return value < kLeast[size] || value > 0x10ffff || surrogate || none ? 0
                                                                       : size;
}

struct Escape {
  char byte;
  std::string_view instead;
};

std::string escaped(std::string_view text,
                    std::initializer_list<Escape> escapes) {
  const auto instead_of = [escapes](char byte) -> std::string_view {
    for (const Escape& e : escapes) {
      if (e.byte == byte) return e.instead;
    }
    return {};
  };
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = character(text);
    const std::string_view instead = instead_of(text[0]);
    if (!instead.empty()) {
      out += instead;
    } else if (size == 0) {
      out += kReplacement;
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

}  // namespace

std::string utf8_text(std::string_view text) { return escaped(text, {}); }

std::string xml_text(std::string_view text) {
  return escaped(text, {{'&', "&amp;"},
                        {'<', "&lt;"},
                        {'>', "&gt;"},
                        {'"', "&quot;"},
                        {'\n', "\n"}});
}

std::string json_text(std::string_view text) {
  return escaped(text, {{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}});
}

// Graphviz reads entities in labels.
std::string dot_text(std::string_view text) {
  return escaped(
      text, {{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'&', "&amp;"}});
}

}  // namespace gt
