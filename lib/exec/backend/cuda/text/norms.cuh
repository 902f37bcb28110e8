// Norms over rows, and their gradients.
#pragma once

#include "teams.cuh"

namespace gt {

// A row's x is normalised to (x - shift - rest) * scale, where rest is what the
// shift lost to rounding. Where x might be out of range without the shift, half
// of both is taken, and twice the scale: x is multiplied by `part`, 1 or 0.5.
template <typename V>
struct Normal {
  V part, shift, rest, scale;
  V centered(V x) const { return x * part - shift; }
  V of(V x) const { return (centered(x) - rest) * scale; }
  // The scale of x itself.
  V slope() const { return scale * part; }
};

// Computes how each team's row is normalised; every thread gets that of its
// team. Squares are taken in f64, where those of all other types have room;
// f64 is divided by the largest size first.
template <bool kCenter, typename T, int kTeam, int kHeld>
inline void normals_of(const Args& a, bool whole, f64* lane,
                       Own<Held<T, kTeam, kHeld>>& x,
                       Own<Normal<Wide<T>>>& normal) {
  using V = Wide<T>;
  const auto n = static_cast<int>(a.n[entry::kLineSize]);
  const f64 count = n;
  const f64 eps = bits_as<f64>(a.n[entry::kEps]);
  Own<f64> total, square, size;
  if constexpr (kCenter) {
    // Elements are divided before they are added, so that no sum leaves the
    // range. What this rounds is in the rest.
    GT_ALONE(t) {
      total.of(t) = static_cast<f64>(x.of(t).sum(V(1) / static_cast<V>(n)));
    }
    team_totals<Sum<f64>, kTeam>(lane, total);
  }
  GT_ALONE(t) {
    const V shift = kCenter ? static_cast<V>(total.of(t)) : V(0);
    const V part = (shift < 0 ? -shift : shift) > V(1e30) ? V(0.5) : V(1);
    normal.of(t).part = part;
    normal.of(t).shift = shift * part;
    size.of(t) = 1;
  }
  if constexpr (kSame<V, f64>) {
    GT_ALONE(t) {
      f64 most = 0;
      x.of(t).each(n, whole, t, [&](V each) {
        const f64 d = normal.of(t).centered(each);
        most = greater(most, d < 0 ? -d : d);
      });
      size.of(t) = most;
    }
    team_totals<Max<f64>, kTeam>(lane, size);
    GT_ALONE(t) {
      f64& most = size.of(t);
      most = lesser(greater(most, 2.2250738585072014e-308),
                    1.7976931348623157e308);
    }
  }
  GT_ALONE(t) {
    f64 sum = 0;
    f64 squares = 0;
    x.of(t).each(n, whole, t, [&](V each) {
      f64 d = static_cast<f64>(normal.of(t).centered(each));
      if constexpr (kSame<V, f64>) d /= size.of(t);
      sum += d;
      squares += d * d;
    });
    total.of(t) = sum;
    square.of(t) = squares;
  }
  team_totals<Sum<f64>, kTeam>(lane, total, square);
  GT_ALONE(t) {
    const f64 rest = kCenter ? total.of(t) / count : f64(0);
    const f64 each = square.of(t) / count - rest * rest;
    const f64 spread = root(greater(each, f64(0))) * size.of(t);
    // The root of spread^2 + eps.
    const f64 other = root(eps) * static_cast<f64>(normal.of(t).part);
    const f64 most = greater(spread, other);
    const f64 share = lesser(spread, other) / most;
    normal.of(t).rest = static_cast<V>(rest * size.of(t));
    normal.of(t).scale = static_cast<V>(1 / (most * root(1 + share * share)));
  }
}

// Normalises the rows that From gives, multiplies them by the weight and adds
// the bias, each of which may be null. A team works on each row.
template <typename T, typename From, bool kCenter, int kTeam, int kHeld>
inline void norm(const Args& a) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  using Row = TeamRow<kTeam>;
  GT_SHARED f64 lane[2 * kWarps];
  const bool whole =
      From::are_even(a) &&
      has_packs<T>(a, a.in[entry::kWeight] | a.in[entry::kBias] | a.out[0]);
  const T* w = in<T>(a, entry::kWeight);
  const T* c = in<T>(a, entry::kBias);
  GT_BLOCKS(b, team_turns<kTeam>(a)) {
    Own<H> x;
    Own<Normal<V>> normal;
    GT_ALONE(t) {
      const Row row(a, b, t);
      x.of(t).template take<From>(a, row.begin, row.n, whole, t);
    }
    normals_of<kCenter>(a, whole, lane, x, normal);
    GT_ALONE(t) {
      const Row row(a, b, t);
      const auto n = static_cast<int>(a.n[entry::kLineSize]);
      const Normal<V> by = normal.of(t);
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        Pack<T> ws, cs, y;
        if (w != nullptr) ws = H::load(w, n, whole, t, k);
        if (c != nullptr) cs = H::load(c, n, whole, t, k);
#pragma unroll
        for (int j = 0; j < H::kPack; ++j) {
          V z = by.of(x.of(t).at(k, j));
          if (w != nullptr) z = z * V(widen(ws.x[j]));
          if (c != nullptr) z = z + V(widen(cs.x[j]));
          y.x[j] = to<T>(z);
        }
        H::store(out<T>(a, 0) + row.begin, row.n, whole, t, k, y);
      }
    }
  }
}

// A thread's sums over rows, of the columns that it holds of each row.
template <typename T, int kTeam, int kHeld>
struct ColumnSums {
  Wide<T> sum[kHeld][kPackOf<T>];
};
// Writes the block's sums as row b of result k_out. `place` has a pack for each
// of the block's threads.
template <typename T, int kTeam, int kHeld>
inline void write_sums(const Args& a, int64_t b, int k_out,
                       Several<Wide<T>, kPackOf<T>>* place,
                       Own<ColumnSums<T, kTeam, kHeld>>& sums) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  const auto n = static_cast<int>(a.n[entry::kLineSize]);
  V* to = out<V>(a, k_out) + b * n;
  if constexpr (kTeam == kThreads) {
    GT_ALONE(t) {
#pragma unroll
      for (int k = 0; k < kHeld * H::kPack; ++k) {
        const int i = H::first(t, k / H::kPack) + k % H::kPack;
        if (i < n) to[i] = sums.of(t).sum[k / H::kPack][k % H::kPack];
      }
    }
  } else {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      GT_PHASE(t) {
        Several<V, H::kPack> own;
#pragma unroll
        for (int j = 0; j < H::kPack; ++j) own.x[j] = sums.of(t).sum[k][j];
        place[t] = own;
      }
      GT_PHASE(t) {
        // A team's packs lie side by side, as they do in the row.
        constexpr int kColumns = kTeam * H::kPack;
        for (int c = t; c < kColumns; c += kThreads) {
          V sum = 0;
#pragma unroll
          for (int team = 0; team < kThreads / kTeam; ++team) {
            const int at = team * kColumns + c;
            sum += place[at / H::kPack].x[at % H::kPack];
          }
          const int i = k * kColumns + c;
          if (i < n) to[i] = sum;
        }
      }
    }
  }
}

// From g, x, and w or null, computes gx = (h - mean h - z mean(h z)) scale,
// where h = g w and z is the normalised x; the first mean is left out if x is
// not centered. A team works on each row. Of the sums over a block's rows,
// out[1] gets those of g z if kSums > 0, and out[2] those of g if kSums > 1.
template <typename T, bool kCenter, int kTeam, int kHeld, int kSums>
inline void norm_grad(const Args& a) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  constexpr int kTeams = kThreads / kTeam;
  GT_SHARED V lane[2 * kWarps];
  GT_SHARED f64 wide[2 * kWarps];
  GT_SHARED Several<V, H::kPack> place[kTeams > 1 && kSums > 0 ? kThreads : 1];
  const auto n = static_cast<int>(a.n[entry::kLineSize]);
  const V count = static_cast<V>(n);
  const bool whole = has_packs<T>(a, a.in[0] | a.in[1] | a.in[2] | a.out[0]);
  const T* w = in<T>(a, 2);
  const auto weighted = [&](V g, const Pack<T>& ws, int j) {
    return w == nullptr ? g : g * V(widen(ws.x[j]));
  };
  GT_BLOCKS(b, a.n[entry::kRowBlocks]) {
    Own<ColumnSums<T, kTeam, kHeld>> gw, gb;
    GT_ALONE(t) {
#pragma unroll
      for (int k = 0; k < kHeld * H::kPack; ++k) {
        gw.of(t).sum[k / H::kPack][k % H::kPack] = 0;
        gb.of(t).sum[k / H::kPack][k % H::kPack] = 0;
      }
    }
    const int64_t first = b * a.n[entry::kRowsOfBlock];
    const int64_t end = first + a.n[entry::kRowsOfBlock];
    const int64_t last = end < a.n[entry::kLines] ? end : a.n[entry::kLines];
    for (int64_t rows = first; rows < last; rows += kTeams) {
      Own<H> g, x;
      Own<Normal<V>> normal;
      Own<V> along, mean;
      GT_ALONE(t) {
        const int64_t r = rows + t / kTeam;
        const int here = r < last ? n : 0;
        x.of(t).load(in<T>(a, 1) + r * n, here, whole, t);
        g.of(t).load(in<T>(a, 0) + r * n, here, whole, t);
      }
      normals_of<kCenter>(a, whole, wide, x, normal);
      GT_ALONE(t) {
        const Normal<V> by = normal.of(t);
        V sum = 0;
        V product = 0;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
          Pack<T> ws;
          if (w != nullptr) ws = H::load(w, n, whole, t, k);
#pragma unroll
          for (int j = 0; j < H::kPack; ++j) {
            const V h = weighted(g.of(t).at(k, j), ws, j);
            sum += h;
            product += h * by.of(x.of(t).at(k, j));
          }
        }
        mean.of(t) = sum;
        along.of(t) = product;
      }
      team_totals<Sum<V>, kTeam>(lane, along, mean);
      GT_ALONE(t) {
        const int64_t r = rows + t / kTeam;
        const int here = r < last ? n : 0;
        const Normal<V> by = normal.of(t);
        const V shift = kCenter ? mean.of(t) / count : V(0);
        const V slope = along.of(t) / count;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
          Pack<T> ws, y;
          if (w != nullptr) ws = H::load(w, n, whole, t, k);
#pragma unroll
          for (int j = 0; j < H::kPack; ++j) {
            const V each = g.of(t).at(k, j);
            const V z = by.of(x.of(t).at(k, j));
            const V h = weighted(each, ws, j);
            y.x[j] = to<T>((h - shift - z * slope) * by.slope());
            if constexpr (kSums > 0) gw.of(t).sum[k][j] += each * z;
            if constexpr (kSums > 1) gb.of(t).sum[k][j] += each;
          }
          H::store(out<T>(a, 0) + r * n, here, whole, t, k, y);
        }
      }
    }
    if constexpr (kSums > 0) write_sums(a, b, 1, place, gw);
    if constexpr (kSums > 1) write_sums(a, b, 2, place, gb);
  }
}

}  // namespace gt
