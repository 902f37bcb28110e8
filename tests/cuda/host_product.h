// The matrix product of a library, by plain loops, for tests.
#pragma once

#include "exec/backend/cuda/plan.h"
#include "exec/backend/element.h"

namespace gt::exec {

// Computes one product of the matrices that begin at those elements.
inline void host_product(const cuda::Product& p, const void* a, int64_t a0,
                         const void* b, int64_t b0, void* c, int64_t c0,
                         const void* bias) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = bias == nullptr ? 0 : load_real(p.to, bias, j);
      for (int64_t k = 0; k < p.k; ++k) {
        sum += load_real(p.dtype, a, a0 + (p.ta ? k * p.m + i : i * p.k + k)) *
               load_real(p.dtype, b, b0 + (p.tb ? j * p.k + k : k * p.n + j));
      }
      store_real(p.to, c, c0 + i * p.n + j, sum);
    }
  }
}

}  // namespace gt::exec
