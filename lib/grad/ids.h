// The numbers of values and nodes in a history.
#pragma once

#include "program/ids.h"

namespace gt::grad {

using ValueId = uint32_t;
// The id of the node's first result, also once that is gone.
using NodeId = ValueId;
inline constexpr uint32_t kNil = UINT32_MAX;

}  // namespace gt::grad
