// Runs of elements from one dtype to another, as cast does.
#pragma once

#include <cstdint>

#include "exec/cpu/loops.h"
#include "stream/type.h"

namespace gt::cpu {

// Null when the dtypes are the same.
Convert converter(Dtype from, Dtype to, const Loops& loops);

}  // namespace gt::cpu
