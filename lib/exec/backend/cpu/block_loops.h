// Products of blocks that fit into the first caches: without packing, in whole
// packs of columns. See pack.h for who may include this.
#pragma once

#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// Measured on Zen 5 with AVX-512, the gradient of attention over 2048 tokens,
// in GFLOP/s, for tiles of rows by packs: 8 by 2 213, 4 by 4 205, 6 by 4 195,
// 12 by 2 122.
#if GT_PACK_BYTES == 64
constexpr int64_t kTileRows = 8;
#else
constexpr int64_t kTileRows = 4;
#endif
constexpr int64_t kTilePacks = 2;

enum class Into { kSet, kAdd, kScaleAndAdd };

// A product into c, which Into selects: c = a b, c + a b, or c with each column
// scaled by a factor + a b.
template <typename T>
struct BlockProduct {
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t ldb;
  T* c;
  int64_t ldc;
  int64_t rows, packs, k;
  const T* factor = nullptr;
};

template <Into kInto, typename T, int64_t kM, int64_t kN>
inline void product_tile(const BlockProduct<T>& t, const T* a, const T* b, T* c,
                         const T* factor) {
  Pack<T> sum[kM][kN];
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      const int64_t at = j * kWidth<T>;
      sum[i][j] = kInto == Into::kSet ? Pack<T>{} : load(c + i * t.ldc + at);
      if (kInto == Into::kScaleAndAdd) sum[i][j] *= load(factor + at);
    }
  }
  for (int64_t p = 0; p < t.k; ++p) {
    Pack<T> right[kN];
    for (int64_t j = 0; j < kN; ++j) {
      right[j] = load(b + p * t.ldb + j * kWidth<T>);
    }
    for (int64_t i = 0; i < kM; ++i) {
      const Pack<T> left = splat(a[i * t.a_row + p * t.a_column]);
      for (int64_t j = 0; j < kN; ++j) {
        sum[i][j] = fma(left, right[j], sum[i][j]);
      }
    }
  }
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      store(c + i * t.ldc + j * kWidth<T>, sum[i][j]);
    }
  }
}

template <Into kInto, typename T, int64_t kN>
inline void multiply_columns(const BlockProduct<T>& t, int64_t first) {
  const int64_t at = first * kWidth<T>;
  const T* factor = t.factor == nullptr ? nullptr : t.factor + at;
  int64_t i = 0;
  for (; i + kTileRows <= t.rows; i += kTileRows) {
    product_tile<kInto, T, kTileRows, kN>(t, t.a + i * t.a_row, t.b + at,
                                          t.c + i * t.ldc + at, factor);
  }
  for (; i < t.rows; ++i) {
    product_tile<kInto, T, 1, kN>(t, t.a + i * t.a_row, t.b + at,
                                  t.c + i * t.ldc + at, factor);
  }
}

// Calls use.template operator()<n>(first) for groups of n packs, which divide
// `packs` packs; n is at most kTilePacks.
template <typename Use>
inline void pack_groups(int64_t packs, const Use& use) {
  int64_t first = 0;
  for (; first + kTilePacks <= packs; first += kTilePacks) {
    use.template operator()<kTilePacks>(first);
  }
  if (first < packs) use.template operator()<1>(first);
}

template <Into kInto, typename T>
inline void multiply(const BlockProduct<T>& t) {
  pack_groups(t.packs, [&]<int64_t kN>(int64_t first) {
    multiply_columns<kInto, T, kN>(t, first);
  });
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
