// The largest elements of windows, some packs of windows at a time; see pack.h
// for who may include this.
#pragma once

#include <utility>

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/network_loops.h"
#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// Returns integers in the order of the elements: nan is the largest, and zeros
// are equal.
template <typename T>
inline Mask<T> pool_ranks(Pack<T> x) {
  constexpr PoolPlace<T> kMost = ~(PoolPlace<T>{1} << (8 * sizeof(T) - 1));
  Mask<T> bits;
  const Pack<T> y = x + T{0};  // no -0
  std::memcpy(&bits, &y, sizeof bits);
  bits ^= (bits < 0) & kMost;
  return x != x ? Mask<T>{} + kMost : bits;
}

// Returns where the ranks of a row begin while they are kept.
template <typename T>
inline PoolPlace<T>* ranks_of(const PoolPlane<T>& plane, int64_t row) {
  return plane.ranks + (row & (plane.kept - 1)) * pool_kept_row(plane.width) +
         kPoolMargin;
}

// Writes the margins of all rows that are kept; ranks of rows leave them alone.
template <typename T>
inline void rank_margins(const PoolPlane<T>& plane) {
  const Mask<T> least = pool_ranks<T>(splat(-static_cast<T>(__builtin_inf())));
  for (int64_t row = 0; row < plane.kept; ++row) {
    PoolPlace<T>* to = ranks_of(plane, row);
    for (int64_t i = 0; i < kPoolMargin; i += kWidth<T>) {
      std::memcpy(to + plane.width.in + i, &least, sizeof least);
      std::memcpy(to - kPoolMargin + i, &least, sizeof least);
    }
  }
}

template <typename T>
inline void rank_row(const PoolPlane<T>& plane, int64_t row) {
  const int64_t n = plane.width.in;
  const T least = -static_cast<T>(__builtin_inf());
  const T* x = plane.x + row * n;
  PoolPlace<T>* to = ranks_of(plane, row);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    // A plane is longer than a page, where the hardware stops to look ahead.
    __builtin_prefetch(x + i + 1024);
    const Mask<T> ranks = pool_ranks<T>(
        left == kWidth<T> ? load(x + i) : load_part(x + i, left, least));
    std::memcpy(to + i, &ranks, sizeof ranks);
  });
}

// Written so that it is one instruction, which a choice by the result of a
// comparison that is used elsewhere, too, is not.
template <typename T>
inline Mask<T> larger(Mask<T> a, Mask<T> b) {
#if GT_PACK_BYTES == 64
  const auto x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b);
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Mask<T>>(_mm512_maskz_max_epi32(0xffff, x, y));
  } else {
    return reinterpret_cast<Mask<T>>(_mm512_maskz_max_epi64(0xff, x, y));
  }
#else
  return a > b ? a : b;
#endif
}

template <typename V, size_t... kLane>
inline V even_lanes(V a, V b, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(a, b, 2 * kLane...);
}

// Returns the elements from column `at` of a row of n elements on that are
// `stride` apart; kStride is the stride if the compiler knows it.
template <int64_t kStride, typename T>
inline Mask<T> load_apart(const PoolPlace<T>* row, int64_t at, int64_t n,
                          int64_t stride, Mask<T> least) {
  Mask<T> a;
  if constexpr (kStride > 0) {
    std::memcpy(&a, row + at, sizeof a);
    if constexpr (kStride == 1) return a;
    Mask<T> b;
    std::memcpy(&b, row + at + kWidth<T>, sizeof b);
    return even_lanes(a, b, std::make_index_sequence<kWidth<T>>{});
  }
  a = least;
  for (int64_t i = 0; i < kWidth<T>; ++i, at += stride) {
    if (at >= 0 && at < n) a[i] = row[at];
  }
  return a;
}

// Handles kPacks packs of windows, from [p,q] on. The first elements of a
// pack's windows are `steps` behind that of the first of them.
template <int64_t kStride, int64_t kPacks, typename T>
inline void pool_packs(const PoolPlane<T>& plane, int64_t p, int64_t q,
                       Mask<T> steps) {
  using Place = PoolPlace<T>;
  const PoolAxis h = plane.height;
  const PoolAxis w = plane.width;
  const int64_t stride = kStride > 0 ? kStride : w.stride;
  const int64_t pack = kWidth<T> * stride;
  const int64_t top = p * h.stride - h.padding;
  const int64_t left = q * stride - w.padding;
  const Mask<T> least = pool_ranks<T>(splat(-static_cast<T>(__builtin_inf())));
  const Mask<T> right = Mask<T>{} + static_cast<Place>(w.dilation);
  // The first element of a window counts whatever it is, even -inf.
  Mask<T> best[kPacks], at[kPacks];
  for (int64_t n = 0; n < kPacks; ++n) {
    best[n] = least;
    const Mask<T> column = steps + static_cast<Place>(left + n * pack);
    at[n] =
        column < 0 ? Mask<T>{} - 1 : column + static_cast<Place>(top * w.in);
    if (top < 0) at[n] = Mask<T>{} - 1;
  }
  for (int64_t i = 0; i < h.kernel; ++i) {
    const int64_t row = top + i * h.dilation;
    if (row < 0 || row >= h.in) continue;
    const Place* ranks = ranks_of(plane, row);
    Mask<T> here = steps + static_cast<Place>(row * w.in + left);
    for (int64_t j = 0; j < w.kernel; ++j, here += right) {
      const int64_t column = left + j * w.dilation;
      if (column >= w.in || (kStride > 0 && column <= -kPoolMargin)) continue;
      for (int64_t n = 0; n < kPacks; ++n) {
        const Mask<T> v = load_apart<kStride, T>(ranks, column + n * pack, w.in,
                                                 stride, least);
        at[n] = v > best[n] ? here + static_cast<Place>(n * pack) : at[n];
        best[n] = larger<T>(v, best[n]);
      }
    }
  }
  // One by one, so that they stay in registers until then.
  for (int64_t n = 0; n < kPacks; ++n) {
    std::memcpy(plane.places + q + n * kWidth<T>, &at[n], sizeof at[n]);
  }
}

template <int64_t kStride, typename T>
void pool_apart(PoolPlane<T>& plane, int64_t p) {
  Mask<T> steps{};
  for (int64_t i = 0; i < kWidth<T>; ++i) {
    steps[i] = static_cast<PoolPlace<T>>(i * plane.width.stride);
  }
  if (p == 0) rank_margins(plane);
  const PoolAxis& h = plane.height;
  const int64_t top = p * h.stride - h.padding;
  const int64_t end = top + pool_reach(h) < h.in ? top + pool_reach(h) : h.in;
  // Rows between windows need no ranks.
  for (int64_t row = plane.reached < top ? top : plane.reached; row < end;
       ++row) {
    rank_row(plane, row);
  }
  if (plane.reached < end) plane.reached = end;
  int64_t q = 0;
  for (; q + kWidth<T> < plane.width.out; q += 2 * kWidth<T>) {
    pool_packs<kStride, 2>(plane, p, q, steps);
  }
  if (q < plane.width.out) pool_packs<kStride, 1>(plane, p, q, steps);
}

template <typename T>
void pool_largest(PoolPlane<T>& plane, int64_t p) {
  switch (plane.width.stride) {
    case 1:
      return pool_apart<1>(plane, p);
    case 2:
      return pool_apart<2>(plane, p);
    default:
      return pool_apart<0>(plane, p);
  }
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
