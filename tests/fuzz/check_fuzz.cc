// Takes any bytes as a stream: gt-check comes to an end in every mode, prints
// its own output unchanged, and finds by its tables what it would find without
// them.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "check/checker.h"
#include "target.h"

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string checked(gt::check::Checker& checker, std::string_view text) {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    out += checker.take(line).noted + "\n";
  }
  return out;
}

void check_mode(const gt::TypingMode& options, std::string_view text) {
  gt::check::Footprint footprint;
  gt::check::Checker first(options, false, &footprint);
  const std::string once = checked(first, text);
  gt::check::Checker second(options);
  if (checked(second, once) != once) std::abort();
  // The text comes in three rounds, as in a loop, so the third may be looked
  // up.
  for (int round = 0; round < 3; ++round) checked(first, text);
  if (footprint.summary().size() > text.size() * 1000 + 1000000) std::abort();
}

}  // namespace

GT_FUZZ_TARGET(check) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_mode({}, text);
  check_mode({true, false, false, {}}, text);
  check_mode({false, true, true, {"dp"}}, text);
  return 0;
}
