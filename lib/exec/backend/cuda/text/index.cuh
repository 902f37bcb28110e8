// Ops that read or write where a tensor of indices says. An index must name a
// row of the whole; those of a row that lies elsewhere read 0 and write nothing.
#pragma once

#include "common.cuh"
#include "integer.cuh"
#include "reduce.cuh"

namespace gt {

// The row that an index names, counted in the block that is here: of one that
// lies elsewhere -1, of one that is wrong -1 and a fault. Args::n[68] on: the
// first row here, how many are here, and how many there are.
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

// gather and embedding. Args::n: elements, the stride of a row, then for an
// element of the result the places of its index and of row 0 of what it reads.
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

// Where each element of the index writes to, as keys to sort by: what writes
// nothing comes last. Args::n as of pick().
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

// The first of the n sorted keys that is not below `key`.
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

// Element (target, j) of the result, of `width` for each target: x, plus the
// values that are written there in their order; or, if kLast, the last of them.
// in: x or null, the values, the keys, the order. Args::n: elements of the
// result, width, keys, then the place of a key's first value.
template <typename X, typename S, typename R, bool kLast>
inline void collect(const Args& a) {
  const int64_t width = a.n[1];
  const auto* keys = in<uint64_t>(a, 2);
  const auto* order = in<int64_t>(a, 3);
  GT_EACH(i, a.n[0]) {
    const auto target = static_cast<uint64_t>(i / width);
    int64_t at = first_not_below(keys, order, a.n[2], target);
    if constexpr (kLast) {
      R value = in<R>(a, 0)[i];
      for (; at < a.n[2] && keys[order[at]] == target; ++at) {
        value = in<R>(a, 1)[place(a.n + 3, order[at]) + i % width];
      }
      out<R>(a, 0)[i] = value;
    } else {
      using A = Total<R>;
      typename A::type sum(0);
      if (a.in[0] != 0) sum = A::of(to<R>(widen(in<X>(a, 0)[i])));
      for (; at < a.n[2] && keys[order[at]] == target; ++at) {
        const S value = in<S>(a, 1)[place(a.n + 3, order[at]) + i % width];
        sum = sum + A::of(to<R>(widen(value)));
      }
      out<R>(a, 0)[i] = to<R>(plain(sum));
    }
  }
}

}  // namespace gt
