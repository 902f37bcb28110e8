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

// Computes e, x without its mean. The mean's last digit, which counts where the
// elements differ by little, is taken away by a second one. Where the mean is
// so large that an element might be out of range without it, e is half of that:
// mh says what e is multiplied by, 1 or 0.5.
inline constexpr char kCentered[] = R"(
       m = mean x axis={axis} keepdims=1
       ma = abs m
       mb = gt ma 1e30
       mc = cast mb {x.dtype}
       md = mul mc 0.5
       mh = sub 1 md
       mx = mul x mh
       mm = mul m mh
       ea = sub mx mm
       eb = mean ea axis={axis} keepdims=1
       e = sub ea eb)";

}  // namespace gt
