// Transposes of small matrices in registers; see pack.h for who may include
// this.
#pragma once

#include <utility>

#include "exec/backend/cpu/network_loops.h"
#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// Swaps the off-diagonal blocks of a 2 by 2 arrangement of blocks of kH lanes.
template <int64_t kH, typename V, size_t... kLane>
inline void exchange(V& a, V& b, std::index_sequence<kLane...>) {
  constexpr size_t kN = sizeof...(kLane);
  const V x =
      __builtin_shufflevector(a, b, (kLane & kH ? kN + kLane - kH : kLane)...);
  b = __builtin_shufflevector(a, b, (kLane & kH ? kN + kLane : kLane + kH)...);
  a = x;
}

template <typename T, int64_t kH = kWidth<T> / 2>
inline void transpose_packs(Pack<T>* rows) {
  if constexpr (kH > 0) {
    for (int64_t i = 0; i < kWidth<T>; ++i) {
      if ((i & kH) != 0) continue;
      exchange<kH>(rows[i], rows[i + kH],
                   std::make_index_sequence<kWidth<T>>{});
    }
    transpose_packs<T, kH / 2>(rows);
  }
}

// Computes to[j][i] = from[i][j] * scale for a matrix of `rows` by `columns`.
// Lanes of the last packs of `to` beyond `rows` become 0 if kPad, else they are
// left alone.
template <bool kPad, typename T>
inline void transpose_block(const T* from, int64_t from_row, T* to,
                            int64_t to_row, int64_t rows, int64_t columns,
                            T scale = 1) {
  constexpr int64_t kW = kWidth<T>;
  const Pack<T> factor = splat(scale);
  for (int64_t i = 0; i < rows; i += kW) {
    const int64_t high = rows - i < kW ? rows - i : kW;
    for (int64_t j = 0; j < columns; j += kW) {
      const int64_t wide = columns - j < kW ? columns - j : kW;
      Pack<T> tile[kW];
      for (int64_t r = 0; r < kW; ++r) {
        tile[r] = r < high ? get(from + (i + r) * from_row + j, wide) * factor
                           : Pack<T>{};
      }
      transpose_packs<T>(tile);
      for (int64_t r = 0; r < wide; ++r) {
        T* at = to + (j + r) * to_row + i;
        if (kPad || high == kW) {
          store(at, tile[r]);
        } else {
          store_part(at, tile[r], high);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
