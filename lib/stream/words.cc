// Parses and writes globs, quoted strings and ranges: the fields of a line that
// have parts of their own.
#include <algorithm>
#include <charconv>

#include "base/message.h"
#include "base/printable.h"
#include "base/quoted.h"
#include "stream/line.h"

namespace gt {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view name) {
  // Greedy match with one backtrack point, linear in practice.
  size_t g = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && glob[g] == name[n]) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool needs_quotes(std::string_view value) {
  return std::ranges::any_of(value, [](char c) {
    return is_control(c) || c == ' ' || c == '"' || c == '#' || c == '\\';
  });
}

// A '#' within quotes would begin the notes for code that does not parse the
// line.
std::string quote(std::string_view text) {
  return quoted(text, {"\n\t", "nt", "\\x", "\x7f#"});
}

size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') return 0;
  if (std::string_view("nt\"\\").find(text[1]) != std::string_view::npos) {
    return 2;
  }
  const bool hex = text[1] == 'x' && text.size() >= 4 &&
                   hex_digit(text[2]) >= 0 && hex_digit(text[3]) >= 0;
  return hex ? 4 : 0;
}

std::string unquote(std::string_view text) {
  if (text.size() < 2 || text[0] != '"') return std::string(text);
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (c == 'x' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
               hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 +
                               hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

Result<Range> parse_range(std::string_view text) {
  const auto error = [text] {
    return Error{"'" + excerpt(text) +
                 "' is not a range such as 0:4, ::2 or 1:"};
  };
  std::optional<int64_t> parts[3];
  size_t part = 0;
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    if (*p == ':') {
      if (++part > 2) return error();
      ++p;
      continue;
    }
    int64_t value = 0;
    const auto [next, code] = std::from_chars(p, end, value);
    if (code != std::errc{} || (next < end && *next != ':')) return error();
    parts[part] = value;
    p = next;
  }
  if (part == 0) return error();
  return Range{parts[0], parts[1], parts[2]};
}

}  // namespace gt
