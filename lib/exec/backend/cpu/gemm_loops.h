// The matrix product for cases that oneDNN does not support (f64) or is too
// slow to start for (tiny f32); see pack.h for who may include this.
//
// kRows rows by kPacks packs of the result are held in registers while the
// inner index runs. b is read from a panel in the order of its use, padded, so
// a transposed b costs no more. Each element sums its products in the order of
// the inner index, in blocks of kBlock, whatever else is computed with it.
#pragma once

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/network_loops.h"
#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

#if GT_PACK_BYTES == 64
constexpr int64_t kRows = 8;
constexpr int64_t kPacks = 3;
#else
constexpr int64_t kRows = 4;
constexpr int64_t kPacks = 2;
#endif
constexpr int64_t kBlock = 128;

// A tile of the result, and what it is computed from.
template <typename T>
struct Tile {
  const T* a;
  int64_t row, column;  // strides of a, in elements
  const T* panel;       // kPacks packs for each inner index
  T* c;
  int64_t ldc;
  int64_t k;
  // If true, c starts at `bias` or 0 instead of at what it holds.
  bool begins;
  const T* bias;
};

// `last` is the number of lanes of the last pack that are used.
template <typename T, int64_t kM, int64_t kN>
void tile(const Tile<T>& t, int64_t last) {
  const auto lanes = [&](int64_t j) { return j + 1 < kN ? kWidth<T> : last; };
  Pack<T> sum[kM][kN];
  for (int64_t j = 0; j < kN; ++j) {
    const int64_t at = j * kWidth<T>;
    const Pack<T> first =
        t.begins && t.bias != nullptr ? get(t.bias + at, lanes(j)) : Pack<T>{};
    for (int64_t i = 0; i < kM; ++i) {
      sum[i][j] = t.begins ? first : get(t.c + i * t.ldc + at, lanes(j));
    }
  }
  for (int64_t p = 0; p < t.k; ++p) {
    Pack<T> b[kN];
    for (int64_t j = 0; j < kN; ++j) {
      b[j] = load(t.panel + (p * kPacks + j) * kWidth<T>);
    }
    for (int64_t i = 0; i < kM; ++i) {
      const Pack<T> a = splat(t.a[i * t.row + p * t.column]);
      for (int64_t j = 0; j < kN; ++j) sum[i][j] = fma(a, b[j], sum[i][j]);
    }
  }
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      put<T>(t.c, i * t.ldc + j * kWidth<T>, sum[i][j], lanes(j));
    }
  }
}

template <typename T, int64_t kM>
void tile_rows(const Tile<T>& t, int64_t columns) {
  const int64_t packs = (columns + kWidth<T> - 1) / kWidth<T>;
  const int64_t last = columns - (packs - 1) * kWidth<T>;
  if (packs == 3) return tile<T, kM, kPacks>(t, last);
  if (packs == 2) return tile<T, kM, 2>(t, last);
  tile<T, kM, 1>(t, last);
}

// Copies `rows` rows of b, from `b` on, to the panel; lanes beyond the columns
// are never used.
template <typename T>
void fill_panel(T* panel, const T* b, int64_t row, int64_t column, int64_t rows,
                int64_t columns) {
  constexpr int64_t kColumns = kPacks * kWidth<T>;
  if (column == 1) {
    for (int64_t p = 0; p < rows; ++p) {
      for (int64_t j = 0; j < columns; j += kWidth<T>) {
        const int64_t left = columns - j < kWidth<T> ? columns - j : kWidth<T>;
        store(panel + p * kColumns + j, get(b + p * row + j, left));
      }
    }
    return;
  }
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t j = 0; j < kColumns; ++j) {
      panel[p * kColumns + j] = j < columns ? b[p * row + j * column] : T{0};
    }
  }
}

template <typename T>
void gemm(const GemmOperand<T>& a, const GemmOperand<T>& b, const T* bias, T* c,
          int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kColumns = kPacks * kWidth<T>;
  alignas(64) T panel[kBlock * kColumns];
  int64_t p = 0;
  // Runs once even if k is 0: c becomes the bias.
  do {
    const int64_t inner = k - p < kBlock ? k - p : kBlock;
    for (int64_t j = 0; j < n; j += kColumns) {
      const int64_t columns = n - j < kColumns ? n - j : kColumns;
      fill_panel(panel, b.data + p * b.row + j * b.column, b.row, b.column,
                 inner, columns);
      Tile<T> t{a.data + p * a.column,
                a.row,
                a.column,
                panel,
                c + j,
                n,
                inner,
                p == 0,
                bias == nullptr ? nullptr : bias + j};
      int64_t i = 0;
      for (; i + kRows <= m; i += kRows) {
        tile_rows<T, kRows>(t, columns);
        t.a += kRows * a.row;
        t.c += kRows * n;
      }
      for (; i < m; ++i) {
        tile_rows<T, 1>(t, columns);
        t.a += a.row;
        t.c += n;
      }
    }
    p += kBlock;
  } while (p < k);
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
