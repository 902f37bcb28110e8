// Rows that threads hold: a team of some threads of a block loads a row once and
// has it until it is done with it. What an expansion would write and read again
// stays with the threads.
#pragma once

#include "common.cuh"
#include "reduce.cuh"

namespace gt {

// Whether rows of T consist of packs, those at these addresses too.
template <typename T>
inline bool has_packs(const Args& a, uint64_t addresses) {
  return a.n[entry::kLineStep] == 1 &&
         a.n[entry::kLineSize] % kPackOf<T> == 0 && is_even(addresses);
}

// A team is some threads that follow each other, warps of 32 as a rule, and
// work on one row.
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;

// Each thread gets the totals of its team's x, for as many as there are; lane:
// kWarps of the block's memory for each.
template <typename F, int kTeam, typename... X>
inline void team_totals(typename F::A* lane, X&... x) {
  (warp_join<F>(x), ...);
  if constexpr (kTeam > kWarp) {
    GT_PHASE(t) {
      auto* place = lane + t / kWarp;
      if (t % kWarp == 0) ((*place = x.of(t), place += kWarps), ...);
    }
    GT_PHASE(t) {
      const auto* team = lane + t / kTeam * (kTeam / kWarp);
      const auto total = [&](auto& own) {
        own = team[0];
#pragma unroll
        for (int w = 1; w < kTeam / kWarp; ++w) own = F::join(own, team[w]);
        team += kWarps;
      };
      (total(x.of(t)), ...);
    }
  }
}

// A thread's elements of its team's row: kHeld packs, with those of the team's
// others in between. In place of elements that the row has not, zeros.
template <typename T, int kTeam, int kHeld>
struct Held {
  static constexpr int kPack = kPackOf<T>;
  using V = Wide<T>;

  // Where pack k begins in the row.
  static int first(int t, int k) { return (k * kTeam + t % kTeam) * kPack; }
  static Pack<T> load(const T* row, int n, bool whole, int t, int k) {
    const int i = first(t, k);
    return whole ? load_pack<true, kPack>(row + i, 1, n - i, T{})
                 : load_pack<false, kPack>(row + i, 1, n - i, T{});
  }
  static void store(T* row, int n, bool whole, int t, int k,
                    const Pack<T>& pack) {
    const int i = first(t, k);
    if (whole) {
      store_pack<true>(row + i, 1, n - i, pack);
    } else {
      store_pack<false>(row + i, 1, n - i, pack);
    }
  }
  void load(const T* row, int n, bool whole, int t) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) x[k] = load(row, n, whole, t, k);
  }
  // The row that begins at element `begin` of From, which may compute it: such
  // a source is Memory of reduce.cuh, or Computed.
  template <typename From>
  void take(const Args& a, int64_t begin, int n, bool whole, int t) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int i = first(t, k);
      x[k] = whole
                 ? From::template pack<true, kPack>(a, begin + i, n - i)
                 : From::template pack<false, kPack>(a, begin + i, n - i);
    }
  }
  V at(int k, int j) const { return widen(x[k].x[j]); }

  V sum() const {
    V total = 0;
#pragma unroll
    for (int k = 0; k < kHeld * kPack; ++k) total += at(k / kPack, k % kPack);
    return total;
  }
  // Element j of pack k of another row, as long as this, becomes of(k, j).
  template <typename Of>
  static void write(T* row, int n, bool whole, int t, const Of& of) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      Pack<T> y;
#pragma unroll
      for (int j = 0; j < kPack; ++j) y.x[j] = to<T>(of(k, j));
      store(row, n, whole, t, k, y);
    }
  }
  // Calls use(x) for each element that the row has.
  template <typename Use>
  void each(int n, bool whole, int t, const Use& use) const {
    with_constant(whole, [&](auto is_whole) {
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        const int left = n - first(t, k);
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          if (left > (is_whole.value ? 0 : j)) use(at(k, j));
        }
      }
    });
  }

  Pack<T> x[kHeld];
};

// Which row a team works on in turn b of its block, and how many elements the
// row has: none, if there are no more rows.
template <int kTeam>
struct TeamRow {
  TeamRow(const Args& a, int64_t b, int t)
      : r(b * (kThreads / kTeam) + t / kTeam),
        n(r < a.n[entry::kLines] ? static_cast<int>(a.n[entry::kLineSize]) : 0),
        begin(r * a.n[entry::kLineSize]) {}
  int64_t r;
  int n;
  int64_t begin;
};
template <int kTeam>
inline int64_t team_turns(const Args& a) {
  return (a.n[entry::kLines] + kThreads / kTeam - 1) / (kThreads / kTeam);
}

}  // namespace gt
