// The small numbers by which decoded lines refer to names (SymbolTable) and
// types (TypeIds).
#pragma once

#include <cstdint>

namespace gt {

using SymbolId = uint32_t;
inline constexpr SymbolId kNoSymbol = UINT32_MAX;

using TypeId = uint32_t;
inline constexpr TypeId kNoType = 0;      // the name holds no value
inline constexpr TypeId kFailedType = 1;  // it holds a failure

}  // namespace gt
