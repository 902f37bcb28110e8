// Rotary positions (rope) and dropout; see pack.h for who may include this.
#pragma once

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/network_loops.h"
#include "exec/backend/cpu/pack.h"
#include "exec/backend/cpu/random_loops.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// Rotates a row of heads: the pair (a, b) becomes (a c - b s, b c + a s). Each
// product is rounded, as in the op's expansion.
template <typename T>
void rope(const T* x, T* y, const T* cosine, const T* sine, int64_t heads,
          int64_t pairs) {
  for (int64_t h = 0; h < heads; ++h, x += 2 * pairs, y += 2 * pairs) {
    each_pack<T>(pairs, [&](int64_t i, int64_t left) {
      const Pack<T> a = get(x + i, left);
      const Pack<T> b = get(x + pairs + i, left);
      const Pack<T> c = get(cosine + i, left);
      const Pack<T> s = get(sine + i, left);
      put<T>(y, i, a * c - b * s, left);
      put<T>(y, pairs + i, b * c + a * s, left);
    });
  }
}

// Does the same for heads in which the two elements of a pair are neighbours.
template <typename T>
void rope_interleaved(const T* x, T* y, const T* cosine, const T* sine,
                      int64_t heads, int64_t pairs) {
  for (int64_t h = 0; h < heads; ++h, x += 2 * pairs, y += 2 * pairs) {
    for (int64_t i = 0; i < pairs; ++i) {
      const T a = x[2 * i];
      const T b = x[2 * i + 1];
      y[2 * i] = a * cosine[i] - b * sine[i];
      y[2 * i + 1] = b * cosine[i] + a * sine[i];
    }
  }
}

// Handles n elements, from `first` on in the whole tensor: x / keep where the
// 24 bits of the element's uniform number reach `least`, else 0.
template <typename T>
void dropout(const T* x, T* y, int64_t n, uint64_t seed, uint64_t first,
             int32_t least, T keep) {
  each_upper(seed, first, n, [=](int64_t i, U32 upper, int64_t left) {
    const I32 digits = reinterpret_cast<I32>(upper >> 8);
    if constexpr (std::is_same_v<T, float>) {
      const F32 kept = get(x + i, left) / splat(keep);
      put<T>(y, i, digits >= least ? kept : F32{}, left);
    } else {
      for (int64_t k = 0; k < left; ++k) {
        y[i + k] = digits[k] >= least ? x[i + k] / keep : T{0};
      }
    }
  });
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
