// The random number generator of philox.def, compiled for this program.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gt::exec::philox {

static inline double root(double x) { return std::sqrt(x); }

#include "exec/backend/philox.def"

}  // namespace gt::exec::philox
