// The colours of pictures, which people with impaired colour vision can tell
// apart, too (after Okabe and Ito).
#pragma once

#include <cstddef>
#include <iterator>

namespace gt::log {

inline constexpr const char* kColors[] = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
    "#d55e00", "#8c6bb1", "#b8a800", "#6b8e23", "#a0522d"};
inline constexpr const char* kOtherColor = "#9aa5b1";

inline const char* color_of(size_t i) {
  return kColors[i % std::size(kColors)];
}

}  // namespace gt::log
