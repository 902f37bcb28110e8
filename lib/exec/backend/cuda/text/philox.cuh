// Random numbers: includes lib/exec/backend/philox.def as kernel text.
#pragma once

#include "common.cuh"

namespace gt::philox {

#include "philox.def"

}  // namespace gt::philox
