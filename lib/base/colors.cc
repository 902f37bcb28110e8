#include "base/colors.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace gt {
namespace {

constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kCyan = "\x1b[1;36m";
constexpr std::string_view kPlain = "\x1b[0m";

bool is_caret(std::string_view line) {
  return line.ends_with('^') && line.find_first_not_of(' ') == line.size() - 1;
}

// Colours a line of a message: its program and severity, or its caret.
std::string painted_line(std::string_view line) {
  std::string out(line);
  if (is_caret(line)) {
    out.insert(out.size() - 1, kRed);
    return out.append(kPlain);
  }
  const size_t end = line.find(": ");
  if (end == line.npos || !line.starts_with("gt-")) return out;
  std::string_view color = kRed;
  for (const auto& [word, its] :
       {std::pair{": warning: ", kYellow}, std::pair{": note: ", kCyan}}) {
    const size_t at = line.find(word);
    if (at == line.npos) continue;
    color = its;
    // The length of the word alone.
    const size_t size = std::string_view(word).size() - 4;
    out.insert(at + 2 + size, kPlain).insert(at + 2, color);
    break;
  }
  out.insert(end, kPlain).insert(0, color);
  return out;
}

}  // namespace

std::string painted(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += painted_line(line);
    text.remove_prefix(line.size());
    if (text.empty()) break;
    out += '\n';
    text.remove_prefix(1);
  }
  return out;
}

bool takes_color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0') &&
         terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace gt
