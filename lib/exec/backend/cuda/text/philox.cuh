// Random numbers: the text of lib/exec/backend/philox.def.
#pragma once

#include "common.cuh"

namespace gt::philox {

#include "philox.def"

}  // namespace gt::philox
