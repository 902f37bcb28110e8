// Text that several rows share, concatenated at compile time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace gt {

// Returns the string literals concatenated, with a NUL at the end.
template <size_t... N>
consteval auto row_text(const char (&... parts)[N]) {
  std::array<char, (N + ...) - sizeof...(N) + 1> text{};
  char* at = text.data();
  ((at = std::copy_n(parts, N - 1, at)), ...);
  return text;
}

}  // namespace gt
