// A case of the grid as a GPU's kernels are held to it.
#pragma once

#include "kernels_grid.h"

namespace gt::exec {

// A running sum is kept in twice the digits of f64, where the reference has 64
// bits; all else is as near as on the host.
inline KernelCase gpu_case(const KernelCase& c) {
  KernelCase own = c;
  if (op_of(c.line) == "cumsum") own.ulps = 1;
  return own;
}

}  // namespace gt::exec
