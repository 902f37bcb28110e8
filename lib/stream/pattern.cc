#include "stream/pattern.h"

#include <algorithm>

#include "stream/line.h"

namespace gt {
namespace {

constexpr size_t kMaxLine = 512;

// One word of the line; false if it bars the line from having a pattern.
bool is_plain(std::string_view word) {
  if (word.empty() || word == "#") return false;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '"' || c == '@') return false;
  }
  return true;
}

}  // namespace

bool Pattern::scan(std::string_view line, bool internal_names) {
  key.clear();
  names.clear();
  results = 0;
  if (line.size() > kMaxLine) return false;
  bool is_op = false;
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    at = end + 1;
    if (word == "=" && results == 0) {
      if (names.empty()) return false;
      results = names.size();
      is_op = true;
      key += "= ";
      continue;
    }
    if (!is_op && is_name(word)) {
      const bool internal =
          word[0] == '_' || word.find("/_") != std::string_view::npos;
      if (internal && !internal_names) return false;
      names.push_back(word);
      key += '\1';
    } else {
      // Before "=" there are names only.
      if (results == 0 || !is_plain(word)) return false;
      key += word;
      is_op = false;
    }
    key += ' ';
  }
  return results > 0;
}

}  // namespace gt
