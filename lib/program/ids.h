// Numbers of names and of types.
#pragma once

#include <cstdint>

namespace gt {

using SymbolId = uint32_t;
inline constexpr SymbolId kNoSymbol = UINT32_MAX;

using TypeId = uint32_t;
inline constexpr TypeId kNoType = 0;      // of a name without a value
inline constexpr TypeId kFailedType = 1;  // of a value that never came to be

}  // namespace gt
