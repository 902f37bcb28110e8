// Ops that read or write where a tensor of indices says. An index must name a
// row of the whole tensor; if that row lies in another part, it reads 0 and
// writes nothing.
#pragma once

#include "common.cuh"
#include "integer.cuh"
#include "reduce.cuh"

namespace gt {

// Returns the row that an index names, counted within the part that is here. If
// the row lies in another part, it returns -1; if the index is out of range, it
// returns -1 and reports a fault. Args::n from 68 on: the first row here, the
// number of rows here, and the number of rows in the whole.
template <typename I>
inline int64_t row_of(const Args& a, int64_t at) {
  const int64_t row = widen(in<I>(a, 1)[at]);
  if (row < 0 || row >= a.n[70]) {
    fault(a, at);
    return -1;
  }
  const int64_t here = row - a.n[68];
  return here >= 0 && here < a.n[69] ? here : -1;
}

// The kernel of gather and embedding. Args::n: elements, the stride of a row,
// then for an element of the result the places of its index and of row 0 of
// what it reads.
template <typename T, typename I>
inline void pick(const Args& a) {
  const int64_t* of_index = a.n + 2;
  const int64_t* of_row = of_index + place_size(of_index);
  GT_EACH(i, a.n[0]) {
    const int64_t row = row_of<I>(a, place(of_index, i));
    T value{};
    if (row >= 0) value = in<T>(a, 0)[place(of_row, i) + row * a.n[1]];
    out<T>(a, 0)[i] = value;
  }
}

// Writes where each element of the index writes to, as keys to sort by; an
// element that writes nothing comes last. Args::n as in pick().
template <typename I>
inline void targets(const Args& a) {
  const int64_t* of_row = a.n + 2;
  GT_EACH(i, a.n[0]) {
    const int64_t row = row_of<I>(a, i);
    out<uint64_t>(a, 0)[i] =
        row < 0 ? ~uint64_t{0}
                : static_cast<uint64_t>(place(of_row, i) + row * a.n[1]);
  }
}

// Returns the first of the n sorted keys that is not below `key`.
inline int64_t first_not_below(const uint64_t* keys, const int64_t* order,
                               int64_t n, uint64_t key) {
  int64_t low = 0;
  int64_t high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (keys[order[middle]] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Makes element `target` of the result: x plus the values that are written
// there, in their order or, if kLast, the last of these values. in: x, the
// values, the keys, the order. Args::n: elements of the result, keys, then the
// place of a key's value.
template <typename X, typename S, typename R, bool kLast>
inline void collect(const Args& a) {
  const int64_t n = a.n[1];
  const auto* keys = in<uint64_t>(a, 2);
  const auto* order = in<int64_t>(a, 3);
  GT_EACH(i, a.n[0]) {
    const auto target = static_cast<uint64_t>(i);
    int64_t at = first_not_below(keys, order, n, target);
    if constexpr (kLast) {
      R value = in<R>(a, 0)[i];
      for (; at < n && keys[order[at]] == target; ++at) {
        value = in<R>(a, 1)[place(a.n + 2, order[at])];
      }
      out<R>(a, 0)[i] = value;
    } else {
      using A = Total<R>;
      typename A::type sum = A::of(to<R>(widen(in<X>(a, 0)[i])));
      for (; at < n && keys[order[at]] == target; ++at) {
        const S value = in<S>(a, 1)[place(a.n + 2, order[at])];
        sum = sum + A::of(to<R>(widen(value)));
      }
      out<R>(a, 0)[i] = to<R>(plain(sum));
    }
  }
}

// Writes where the values of each target begin among the sorted keys. in: the
// keys, the order. Args::n: the number of targets plus one, the number of keys.
inline void begins(const Args& a) {
  GT_EACH(i, a.n[0]) {
    out<int64_t>(a, 0)[i] =
        first_not_below(in<uint64_t>(a, 0), in<int64_t>(a, 1), a.n[1],
                        static_cast<uint64_t>(i));
  }
}

// Makes a row of the result for each target: the sum of the rows of S that are
// written there, in their order. in: these rows, the order, where targets
// begin. Args::n: packs of kPack elements of the result, and packs of a row.
template <typename S, typename R, int kPack>
inline void collect_rows(const Args& a) {
  using A = Total<R>;
  constexpr int kAtOnce = 4;
  const auto* order = in<int64_t>(a, 1);
  const auto* begin = in<int64_t>(a, 2);
  const int64_t width = a.n[1] * kPack;
  with_constant(is_even(a.in[0] | a.out[0]), [&](auto is_whole) {
    constexpr bool kWhole = is_whole.value;
    GT_EACH(p, a.n[0]) {
      const int64_t target = p / a.n[1];
      const int64_t column = p % a.n[1] * kPack;
      const int64_t last = begin[target + 1];
      typename A::type sum[kPack];
#pragma unroll
      for (int j = 0; j < kPack; ++j) sum[j] = typename A::type(0);
      for (int64_t at = begin[target]; at < last; at += kAtOnce) {
        Several<S, kPack> x[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          const bool is_there = at + k < last;
          const int64_t row = is_there ? order[at + k] : 0;
          x[k] = load_pack<kWhole, kPack>(in<S>(a, 0) + row * width + column, 1,
                                          is_there ? kPack : 0, S{});
        }
#pragma unroll
        for (int k = 0; k < kAtOnce * kPack; ++k) {
          if (at + k / kPack >= last) break;
          auto& own = sum[k % kPack];
          own = own + A::of(to<R>(widen(x[k / kPack].x[k % kPack])));
        }
      }
      Several<R, kPack> y;
#pragma unroll
      for (int j = 0; j < kPack; ++j) y.x[j] = to<R>(plain(sum[j]));
      constexpr bool kAligned = kWhole && sizeof(y) == 16;
      store_pack<kAligned>(out<R>(a, 0) + p * kPack, 1, kPack, y);
    }
  });
}

}  // namespace gt
