#include "log/escape.h"

#include <initializer_list>

#include "base/utf8.h"

namespace gt::log {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Returns the bytes of the character that `text` begins with; 0 if it is no
// character, or one that XML does not allow.
size_t character(std::string_view text) {
  const auto [bytes, code] = first_character(text);
  const bool is_control = code < 0x20 || code == 0x7f;
  return is_control || code == 0xfffe || code == 0xffff ? 0 : bytes;
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

// Entities are escaped as well, since Graphviz reads them in labels.
std::string dot_text(std::string_view text) {
  return escaped(
      text, {{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'&', "&amp;"}});
}

}  // namespace gt::log
