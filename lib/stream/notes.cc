#include "stream/notes.h"

#include <cstring>

namespace gt {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

// No string holds a '#', so the first one begins the notes.
NotedText split_notes(std::string_view line) {
  NotedText out{line, {}, true};
  const void* mark = std::memchr(line.data(), '#', line.size());
  if (mark != nullptr) {
    const auto at =
        static_cast<size_t>(static_cast<const char*>(mark) - line.data());
    out.is_clean = at == 0 || is_blank(line[at - 1]);
    out.text = line.substr(0, at);
    out.notes = line.substr(at);
  }
  while (!out.text.empty() && is_blank(out.text.back())) {
    out.text.remove_suffix(1);
  }
  return out;
}

}  // namespace gt
