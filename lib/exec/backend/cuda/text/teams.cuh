// Rows that are held in registers: a team, some of a block's threads, loads a
// row once and keeps it until it is done with it. Values that an expansion
// would write and read again stay in registers.
#pragma once

#include "common.cuh"
#include "reduce.cuh"

namespace gt {

// True if rows of T consist of whole, aligned packs, also those at `addresses`,
// which are joined by "or".
template <typename T>
inline bool has_packs(const Args& a, uint64_t addresses) {
  return a.n[entry::kLineStep] == 1 &&
         a.n[entry::kLineSize] % kPackOf<T> == 0 && is_even(addresses);
}

// A team is a number of consecutive threads, usually whole warps of 32, that
// work on one row.
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;

// Gives each thread the totals of its team's x, for each of several x. `lane`
// has kWarps entries of the block's memory for each x.
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

// A thread's elements of its team's row: kHeld packs; between two of them lie
// packs of the team's other threads. Elements that the row does not have are
// zeros.
template <typename T, int kTeam, int kHeld>
struct Held {
  static constexpr int kPack = kPackOf<T>;
  using V = Wide<T>;

  // Returns where pack k begins in the row.
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
  // Loads the row that begins at element `begin` of From, which may compute it:
  // From is Memory of reduce.cuh, or Computed.
  template <typename From>
  void take(const Args& a, int64_t begin, int n, bool whole, int t) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int i = first(t, k);
      x[k] = whole ? From::template pack<true, kPack>(a, begin + i, n - i)
                   : From::template pack<false, kPack>(a, begin + i, n - i);
    }
  }
  V at(int k, int j) const { return widen(x[k].x[j]); }

  // The sum of the elements, each times a share.
  V sum(V share) const {
    V total = 0;
#pragma unroll
    for (int k = 0; k < kHeld * kPack; ++k) {
      total += at(k / kPack, k % kPack) * share;
    }
    return total;
  }
  // Writes a row of the same length, whose element j of pack k is of(k, j).
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

// The row that a team works on in turn b of its block, and the number of its
// elements: 0 if there are no more rows.
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
