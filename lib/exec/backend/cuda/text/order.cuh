// Sorting: lines of keys are put in order by merging sorted runs; each launch
// makes runs of twice the length. Indices are moved instead of keys, and equal
// keys keep their order.
#pragma once

#include "common.cuh"

namespace gt {

// Compares keys; nan counts as the largest.
template <typename K>
inline bool less(K a, K b) {
  const auto x = widen(a);
  const auto y = widen(b);
  return y != y ? x == x : x < y;
}
inline bool less(uint64_t a, uint64_t b) { return a < b; }

// Merges pairs of runs of one line. The order so far lies line by line in
// in[1]; if kFirst, it is 0, 1, 2 ... instead. The new order goes to out[0],
// line by line or, if kLast, to where the keys lie.
template <typename K, bool kDescending, bool kFirst, bool kLast>
struct Merge {
  const Args& a;
  int64_t line;

  int64_t order(int64_t i) const {
    return kFirst ? i : in<int64_t>(a, 1)[line * a.n[entry::kLineSize] + i];
  }
  // Returns where the line's i-th key is in memory.
  int64_t at(int64_t i) const {
    return line_begin(a, line) + i * a.n[entry::kLineStep];
  }
  K key(int64_t i) const { return in<K>(a, 0)[at(order(i))]; }
  static bool before(K x, K y) { return kDescending ? less(y, x) : less(x, y); }

  // Returns how many keys of the run [begin, end) come before x. Keys equal to
  // x count if x is `behind` them.
  int64_t count(int64_t begin, int64_t end, K x, bool behind) const {
    int64_t low = begin;
    int64_t high = end;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const K y = key(middle);
      if (behind ? !before(x, y) : before(y, x)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - begin;
  }

  // Writes index i of the merged order where it belongs.
  void place_one(int64_t i) const {
    const int64_t rows = a.n[entry::kLineSize];
    const int64_t width = a.n[entry::kRunLength];
    const int64_t begin = i / (2 * width) * (2 * width);
    const int64_t middle = begin + width < rows ? begin + width : rows;
    const int64_t end = begin + 2 * width < rows ? begin + 2 * width : rows;
    const int64_t to =
        i < middle ? i + count(middle, end, key(i), false)
                   : begin + (i - middle) + count(begin, middle, key(i), true);
    out<int64_t>(a, 0)[kLast ? at(to) : line * rows + to] = order(i);
  }
};

template <typename K, bool kDescending, bool kFirst, bool kLast>
inline void merge(const Args& a) {
  const int64_t rows = a.n[entry::kLineSize];
  GT_EACH(u, a.n[entry::kLines] * rows) {
    const Merge<K, kDescending, kFirst, kLast> one{a, u / rows};
    one.place_one(u % rows);
  }
}

}  // namespace gt
