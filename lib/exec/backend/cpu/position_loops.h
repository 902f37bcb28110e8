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

// Element i is kept if bit first + i is set. The quotient of two floats is
// never so near to the middle between two others that the product with the
// reciprocal in double would be rounded to another float.
template <typename T>
void drop(const T* x, T* y, int64_t n, const uint64_t* bits, int64_t first,
          T keep) {
  const double factor = 1 / static_cast<double>(keep);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    const auto at = static_cast<uint64_t>(first + i);
    uint64_t kept = bits[at / 64] >> at % 64;
    if (at % 64 + kWidth < T >> 64) kept |= bits[at / 64 + 1] << (64 - at % 64);
    if constexpr (std::is_same_v<T, float>) {
      const F32 all = multiply_wide(get(x + i, left), factor);
      put<T>(y, i, lanes_of(static_cast<uint32_t>(kept)) ? all : F32{}, left);
    } else {
      for (int64_t k = 0; k < left; ++k) {
        y[i + k] = (kept >> k & 1) != 0 ? x[i + k] / keep : T{0};
      }
    }
  });
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
