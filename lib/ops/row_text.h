// Row text that several rows share, put together when the table is compiled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace gt {

// The parts, one after the other, as a string that ends as C's do.
template <size_t... N>
consteval auto row_text(const char (&... parts)[N]) {
  std::array<char, (N + ...) - sizeof...(N) + 1> text{};
  char* at = text.data();
  ((at = std::copy_n(parts, N - 1, at)), ...);
  return text;
}

}  // namespace gt
