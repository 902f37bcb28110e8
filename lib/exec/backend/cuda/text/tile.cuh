// Products of tiles: a block of threads adds a b^T to sums that its threads
// hold in registers, where slices of a and b are in memory of the block.
// Threads multiply and add f32 and f64 themselves; tensor cores do so for f16
// and bf16, and add in f32.
#pragma once

#include "common.cuh"

namespace gt {

template <typename T>
inline constexpr bool kIsHalf = sizeof(T) == 2;

// The rows of a tile, and the size of a slice along the summed dimension: as
// large as possible while the memory of a block stays below 48 KiB.
template <typename T>
inline constexpr int kTile = sizeof(T) == 8 ? 32 : 64;
template <typename T>
inline constexpr int kSlice = kIsHalf<T> ? 32 : 16;

// A slice of a factor: kRows rows of kDepth elements. The elements that a
// thread reads at once lie together: elements of neighbouring rows or, for
// tensor cores, of one row. The padding in the stride keeps threads from using
// the same memory banks.
template <typename T, int kRowCount, int kDepthCount>
struct Factor {
  using type = T;
  static constexpr int kRows = kRowCount;
  static constexpr int kDepth = kDepthCount;
  static constexpr int kStride = kIsHalf<T> ? kDepth + 8 : kRows + 4;

  T& at(int row, int k) {
    return x[kIsHalf<T> ? row * kStride + k : k * kStride + row];
  }
  const T& at(int row, int k) const {
    return x[kIsHalf<T> ? row * kStride + k : k * kStride + row];
  }

  alignas(16) T x[kIsHalf<T> ? kRows * kStride : kDepth * kStride];
};

// kTile rows of kColumns sums. In thread t, value(i, j) is the sum at row(t, i)
// and column(t, j). owner(t) numbers the threads that share a row.
template <typename T, int kColumns, bool kByTensorCores = kIsHalf<T>>
struct Sums {
  using V = T;
  static constexpr int kRun = kTile<T> / 16;
  static constexpr int kOwnRows = kRun;
  static constexpr int kOwnColumns = kColumns / 16;
  static constexpr int kOwners = 16;

  static int owner(int t) { return t % 16; }
  static int row(int t, int i) { return t / 16 * kRun + i; }
  static int column(int t, int j) {
    return j / kRun * (16 * kRun) + t % 16 * kRun + j % kRun;
  }
  V& value(int i, int j) { return x[i][j]; }

  // Adds the products of a's columns from `from` on with b's columns.
  template <typename A, typename B>
  void add(int t, const A& a, int from, const B& b) {
#pragma unroll
    for (int k = 0; k < B::kDepth; ++k) {
      V left[kOwnRows];
#pragma unroll
      for (int i = 0; i < kOwnRows; ++i) left[i] = a.at(row(t, i), from + k);
#pragma unroll
      for (int j = 0; j < kOwnColumns; ++j) {
        const V right = b.at(column(t, j), k);
#pragma unroll
        for (int i = 0; i < kOwnRows; ++i) {
          x[i][j] = fma(left[i], right, x[i][j]);
        }
      }
    }
  }

  V x[kOwnRows][kOwnColumns];
};

// The sums for tensor cores: each of eight warps has 16 rows and half of the
// columns, in the layout of PTX's mma.m16n8k16.
template <typename T, int kColumns>
struct Sums<T, kColumns, true> {
  using V = f32;
  static constexpr int kOwnRows = 2;
  static constexpr int kOwnColumns = kColumns / 8;
  static constexpr int kOwners = 8;

  static int owner(int t) { return t / 128 * 4 + t % 4; }
  static int row(int t, int i) { return t / 32 % 4 * 16 + t % 32 / 4 + 8 * i; }
  static int column(int t, int j) {
    return t / 128 * (kColumns / 2) + j / 2 * 8 + t % 4 * 2 + j % 2;
  }
  V& value(int i, int j) { return x[j / 2][2 * i + j % 2]; }

  template <typename A, typename B>
  void add(int t, const A& a, int from, const B& b) {
#pragma unroll
    for (int k = 0; k < B::kDepth; k += 16) {
      mma_16_8_16<kColumns / 16>(t % 32, x, &a.at(t / 32 % 4 * 16, from + k),
                                 A::kStride, &b.at(t / 128 * (kColumns / 2), k),
                                 B::kStride);
    }
  }

  V x[kColumns / 16][4];
};

// ---- factors from the GPU's memory ------------------------------------------

// A matrix in memory, from some row and column on; `rows` and `columns` count
// what is there from that point.
template <typename T>
struct Matrix {
  const T* data;
  int64_t stride, rows, columns;

  Matrix from(int64_t row, int64_t column) const {
    return {data + row * stride + column, stride, rows - row, columns - column};
  }
  // True if 16 bytes may be read at once at the beginning of every row.
  bool is_aligned() const {
    return ((reinterpret_cast<uint64_t>(data) |
             static_cast<uint64_t>(stride) * sizeof(T)) &
            15) == 0;
  }
  // Returns a pack of a row; elements that do not exist are 0.
  Pack<T> pack(int64_t row, int64_t column, bool aligned) const {
    const T* at = data + row * stride + column;
    if (row < rows && column + kPackOf<T> <= columns && aligned) {
      return *reinterpret_cast<const Pack<T>*>(at);
    }
    Pack<T> p;
#pragma unroll
    for (int i = 0; i < kPackOf<T>; ++i) {
      p.x[i] = row < rows && column + i < columns ? at[i] : T{};
    }
    return p;
  }
};

// Copies the first kRows rows of x, as many elements of each as `to` is deep,
// to the rows of `to`.
template <int kRows, typename T, typename F>
inline void load_rows(int t, F& to, const Matrix<T>& x) {
  constexpr int kPacks = F::kDepth / kPackOf<T>;
  const bool aligned = x.is_aligned();
#pragma unroll
  for (int e = t; e < kRows * kPacks; e += kThreads) {
    const int row = e / kPacks;
    const int k = e % kPacks * kPackOf<T>;
    const Pack<T> p = x.pack(row, k, aligned);
#pragma unroll
    for (int i = 0; i < kPackOf<T>; ++i) to.at(row, k + i) = p.x[i];
  }
}

// Copies the first columns of x to the rows of `to`. Neighbouring threads write
// elements of the factor that lie together.
template <typename T, typename F>
inline void load_columns(int t, F& to, const Matrix<T>& x) {
  constexpr int kPacks = F::kRows / kPackOf<T>;
  const bool aligned = x.is_aligned();
#pragma unroll
  for (int e = t; e < F::kDepth * kPacks; e += kThreads) {
    const int k = kIsHalf<T> ? e % F::kDepth : e / kPacks;
    const int row = (kIsHalf<T> ? e / F::kDepth : e % kPacks) * kPackOf<T>;
    const Pack<T> p = x.pack(k, row, aligned);
#pragma unroll
    for (int i = 0; i < kPackOf<T>; ++i) to.at(row + i, k) = p.x[i];
  }
}

// Computes s = x y^T for the first rows of both; x and y have equally many
// columns.
template <typename T, typename S, typename A, typename B>
inline void multiply_rows(Own<S>& s, A& a, B& b, const Matrix<T>& x,
                          const Matrix<T>& y) {
  GT_PHASE(t) { s.of(t) = S{}; }
  for (int64_t k = 0; k < x.columns; k += A::kDepth) {
    GT_PHASE(t) {
      load_rows<A::kRows>(t, a, x.from(0, k));
      load_rows<A::kRows>(t, b, y.from(0, k));
    }
    GT_PHASE(t) { s.of(t).add(t, a, 0, b); }
  }
}

// Computes s += p y, where p is whole in memory of the block, and 0 beyond y's
// rows.
template <typename T, typename S, typename P, typename B>
inline void multiply_columns(Own<S>& s, const P& p, B& b, const Matrix<T>& y) {
  for (int k = 0; k < P::kDepth && k < y.rows; k += B::kDepth) {
    GT_PHASE(t) { load_columns(t, b, y.from(k, 0)); }
    GT_PHASE(t) { s.of(t).add(t, p, k, b); }
  }
}

}  // namespace gt
