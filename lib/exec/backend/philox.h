// The random number generator of philox.def, compiled for this program.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stream/type.h"

namespace gt::exec::philox {

static inline double root(double x) { return std::sqrt(x); }

#include "exec/backend/philox.def"

// Returns the number of significand bits of a float dtype, including the hidden
// bit.
static inline int digits_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 53;
    case Dtype::kF16:
      return 11;
    case Dtype::kBf16:
      return 8;
    default:
      return 24;
  }
}

}  // namespace gt::exec::philox
