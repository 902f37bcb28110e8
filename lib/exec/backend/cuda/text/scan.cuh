// Running sums along lines. A line is cut into parts. If there are several, one
// launch adds up each part, others make running sums of these totals, and the
// last launch begins each part with the sum of those before it. So the order of
// a sum depends only on the dtype, and on the lines' number, length and layout.
// Elements of f64 that lie beside each other are added before what precedes
// them is. If no f64 can hold their sum, the results from there on are infinite
// or nan, even where adding them one by one would stay within the range of f64.
#pragma once

#include "reduce.cuh"

namespace gt {

// A sum of floats has twice the digits of f64, so that every element of a
// result is rounded once. Knuth's sum of two floats, which keeps what rounding
// loses; The Art of Computer Programming, volume 2, section 4.2.2.
struct Twofold {
  f64 high;
  f64 low;
};

// The functions of a reduction (reduce.cuh), for running sums of elements of T.
template <typename T, bool = kIsFloat<T>>
struct Running {
  using A = Twofold;
  static A none() { return {0, 0}; }
  static A take(T x, int64_t /*index*/) {
    return {static_cast<f64>(widen(x)), 0};
  }
  static A join(A a, A b) {
    const f64 sum = a.high + b.high;
    const f64 back = sum - a.high;
    const f64 lost = (a.high - (sum - back)) + (b.high - back);
    const bool finite = sum - sum == 0;
    return {sum, finite ? a.low + b.low + lost : 0};
  }
  template <typename R>
  static R give(A total, int64_t /*n*/) {
    return to<R>(total.high + total.low);
  }
};
template <typename T>
struct Running<T, false> : Sum<T> {};

// Each block writes the running sums of one part of a line whose elements are
// contiguous. A thread takes kPack of them at a time. The running sums of the
// totals of a line's parts lie next to each other in in[1].
template <typename F, typename From, typename Into, int kPack>
inline void scan_by_block(const Args& a) {
  using A = typename F::A;
  constexpr int64_t kTurn = int64_t{kThreads} * kPack;
  GT_SHARED A lane[2 * kThreads];
  GT_SHARED A before[1];  // the sum of what precedes the block's next elements
  const int64_t rows = a.n[entry::kLineSize];
  const int64_t parts = a.n[entry::kScanParts];
  const int64_t size = a.n[entry::kScanPartSize];
  const bool whole =
      a.n[entry::kScanIsWhole] != 0 && From::are_even(a) && is_even(a.out[0]);
  GT_BLOCKS(b, a.n[entry::kLines] * parts) {
    const int64_t line = b / parts;
    const int64_t part = b % parts;
    const int64_t first = line * rows + part * size;
    const int64_t last = part + 1 < parts ? first + size : (line + 1) * rows;
    GT_PHASE(t) {
      if (t == 0) before[0] = part > 0 ? in<A>(a, 1)[b - 1] : F::none();
    }
    for (int64_t turn = first; turn < last; turn += kTurn) {
      Own<Several<typename From::Raw, kPack>> pack;
      GT_PHASE(t) {
        const int64_t at = turn + t * kPack;
        with_constant(whole, [&](auto is_whole) {
          pack.of(t) =
              From::template pack<is_whole.value, kPack>(a, at, last - at);
        });
        A sum = F::none();
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          if (at + j < last) {
            sum = F::join(sum, From::take(pack.of(t).x[j], at + j));
          }
        }
        lane[t] = sum;
      }
      // Each thread gets the sum of its own elements and of all before them, in
      // log2(kThreads) steps (Hillis and Steele, Data Parallel Algorithms,
      // 1986).
      int half = 0;
      for (int far = 1; far < kThreads; far *= 2) {
        const A* from = lane + half * kThreads;
        A* into = lane + (1 - half) * kThreads;
        GT_PHASE(t) {
          into[t] = t < far ? from[t] : F::join(from[t - far], from[t]);
        }
        half = 1 - half;
      }
      const A* until = lane + half * kThreads;
      GT_PHASE(t) {
        const int64_t at = turn + t * kPack;
        A sum = t > 0 ? F::join(before[0], until[t - 1]) : before[0];
        Several<typename Into::Raw, kPack> sums;
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          if (at + j < last) {
            sum = F::join(sum, From::take(pack.of(t).x[j], at + j));
          }
          sums.x[j] = Into::of(a, sum);
        }
        with_constant(whole, [&](auto is_whole) {
          constexpr bool kAtOnce = is_whole.value && sizeof(sums) == 16;
          store_pack<kAtOnce>(out<typename Into::Raw>(a, 0) + at, 1, last - at,
                              sums);
        });
      }
      GT_PHASE(t) {
        if (t == 0) before[0] = F::join(before[0], until[kThreads - 1]);
      }
    }
  }
}

// Each thread writes the running sums of one part of a line, or with kTotals
// only the part's total. The totals of all lines' first parts come first, then
// those of their second parts, and so do the running sums of them in in[1].
template <typename F, typename From, typename Into, bool kTotals>
inline void scan_by_thread(const Args& a) {
  const int64_t lines = a.n[entry::kLines];
  const int64_t rows = a.n[entry::kLineSize];
  const int64_t step = a.n[entry::kLineStep];
  const int64_t parts = a.n[entry::kScanParts];
  const int64_t size = a.n[entry::kScanPartSize];
  GT_EACH(i, lines * parts) {
    const int64_t part = i / lines;
    const int64_t base = line_begin(a, i % lines);
    const int64_t last = part + 1 < parts ? (part + 1) * size : rows;
    typename F::A sum = F::none();
    if (!kTotals && part > 0) sum = in<typename F::A>(a, 1)[i - lines];
    for (int64_t row = part * size; row < last; ++row) {
      sum = F::join(sum, From::take(From::at(a, base + row * step), row));
      if (!kTotals) Into::put(a, base + row * step, sum);
    }
    if (kTotals) Into::put(a, i, sum);
  }
}

}  // namespace gt
