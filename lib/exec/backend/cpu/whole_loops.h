// Reductions and matrix products of integers, whose arithmetic wraps, so that
// no order of summing shows; see pack.h for who may include this.
#pragma once

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

struct WrappingSum {
  static constexpr int64_t kNone = 0;
  static int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                static_cast<uint64_t>(b));
  }
};
struct WrappingProduct {
  static constexpr int64_t kNone = 1;
  static int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) *
                                static_cast<uint64_t>(b));
  }
};
struct LargestWhole {
  static constexpr int64_t kNone = INT64_MIN;
  static int64_t join(int64_t a, int64_t b) { return a > b ? a : b; }
};
struct SmallestWhole {
  static constexpr int64_t kNone = INT64_MAX;
  static int64_t join(int64_t a, int64_t b) { return a < b ? a : b; }
};

template <typename Join, typename T>
int64_t whole_row(const T* x, int64_t n) {
  int64_t total = Join::kNone;
  for (int64_t i = 0; i < n; ++i) {
    total = Join::join(total, static_cast<int64_t>(x[i]));
  }
  return total;
}

template <typename Join, typename T>
void whole_columns(const T* x, int64_t rows, int64_t width, int64_t columns,
                   int64_t* total) {
  for (int64_t c = 0; c < columns; ++c) total[c] = Join::kNone;
  for (int64_t r = 0; r < rows; ++r, x += width) {
    for (int64_t c = 0; c < columns; ++c) {
      total[c] = Join::join(total[c], static_cast<int64_t>(x[c]));
    }
  }
}

// Computes `columns` columns of c = a b (+ bias), from the first on; all of
// some packs if kWhole.
template <bool kWhole, typename T>
void whole_strip(const GemmOperand<T>& a, const T* b, const T* bias, T* c,
                 int64_t m, int64_t n, int64_t k, int64_t columns) {
  using Of = std::make_unsigned_t<T>;
  using V [[gnu::vector_size(GT_PACK_BYTES)]] = Of;
  constexpr size_t kN = 4;
  const size_t bytes =
      kWhole ? kN * sizeof(V) : static_cast<size_t>(columns) * sizeof(T);
  for (int64_t i = 0; i < m; ++i) {
    V sum[kN]{};
    if (bias != nullptr) std::memcpy(sum, bias, bytes);
    for (int64_t p = 0; p < k; ++p) {
      const auto left = static_cast<Of>(a.data[i * a.row + p * a.column]);
      V right[kN]{};
      std::memcpy(right, b + p * n, bytes);
      for (size_t v = 0; v < kN; ++v) sum[v] += left * right[v];
    }
    std::memcpy(c + i * n, sum, bytes);
  }
}

template <typename T>
void whole_product(const GemmOperand<T>& a, const T* b, const T* bias, T* c,
                   int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kStrip = 4 * GT_PACK_BYTES / sizeof(T);
  for (int64_t j = 0; j < n; j += kStrip) {
    const T* from = bias == nullptr ? nullptr : bias + j;
    if (n - j >= kStrip) {
      whole_strip<true>(a, b + j, from, c + j, m, n, k, kStrip);
    } else {
      whole_strip<false>(a, b + j, from, c + j, m, n, k, n - j);
    }
  }
}

template <typename T>
constexpr ReduceRow<T> kWholeReductions[] = {
    {"sum", whole_row<WrappingSum, T>, whole_columns<WrappingSum, T>,
     WrappingSum::join},
    {"prod", whole_row<WrappingProduct, T>, whole_columns<WrappingProduct, T>,
     WrappingProduct::join},
    {"max", whole_row<LargestWhole, T>, whole_columns<LargestWhole, T>,
     LargestWhole::join},
    {"min", whole_row<SmallestWhole, T>, whole_columns<SmallestWhole, T>,
     SmallestWhole::join},
};

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
