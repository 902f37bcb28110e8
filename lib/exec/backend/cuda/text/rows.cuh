// Softmax, norms and losses, a row at a time. What an expansion would write and
// read again stays with the threads, or is read again while it is still near.
#pragma once

#include "common.cuh"
#include "reduce.cuh"

namespace gt {

// Row r has its element i at begin + i * step.
struct Row {
  int64_t begin, step;
  int64_t at(int64_t i) const { return begin + i * step; }
};
// Args::n of all: rows, elements of a row, their stride.
inline Row row_at(const Args& a, int64_t r) {
  return {r / a.n[2] * a.n[2] * a.n[1] + r % a.n[2], a.n[2]};
}

// Whether rows of T consist of packs, those at these addresses too.
template <typename T>
inline bool has_packs(const Args& a, uint64_t addresses) {
  return a.n[2] == 1 && a.n[1] % kPackOf<T> == 0 && is_even(addresses);
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

// The total of of(i) over a row's elements, known to all threads.
template <typename F, typename Of>
inline typename F::A row_total(typename F::A* lane, int64_t n, const Of& of) {
  Own<typename F::A> total;
  GT_ALONE(t) {
    typename F::A own = F::none();
    for (int64_t i = t; i < n; i += kThreads) own = F::join(own, of(i));
    total.of(t) = own;
  }
  team_totals<F, kThreads>(lane, total);
  return total.of(0);
}

#define GT_ROW(t, i, n) for (int64_t i = t; i < (n); i += kThreads)

// The packs of a row that a thread of the block has at once, with others of
// the block in between.
template <typename T>
struct Batch {
  static constexpr int kCount = 4;
  static constexpr int64_t kStep = int64_t{kThreads} * kPackOf<T>;
  Pack<T> x[kCount];
};

// The greatest element of a row of x, and the sum of exp(x - most): the parts
// that softmax and log_softmax are made of. The sum is over what was met so far
// and is scaled when there is a greater element (M. Milakov and N. Gimelshein,
// arXiv 1805.02867), so that a row is read once.
template <typename V>
struct Exponentials {
  V most, sum;
};
template <typename V>
struct Peak {
  using A = V;
  static V join(V a, V b) { return number_max(a, b); }
  // What is subtracted: -inf from -inf would be a nan.
  static V base(V most) { return most == Limits<V>::least() ? V(0) : most; }
};
template <typename V, typename T>
inline Exponentials<V> exponentials(V* lane, int64_t n, const T* x, Row row,
                                    bool whole) {
  using B = Batch<T>;
  constexpr int kPack = kPackOf<T>;
  const T least = to<T>(Limits<V>::least());
  Own<V> most, own, sum;
  GT_ALONE(t) {
    V top = Limits<V>::least();
    V total = 0;
    with_constant(whole, [&](auto is_whole) {
      for (int64_t i = t * kPack; i < n; i += B::kCount * B::kStep) {
        B batch;
#pragma unroll
        for (int k = 0; k < B::kCount; ++k) {
          const int64_t at = i + k * B::kStep;
          batch.x[k] = load_pack<is_whole.value, kPack>(
              x + row.at(at), row.step, n - at, least);
        }
        const V before = top;
#pragma unroll
        for (int k = 0; k < B::kCount * kPack; ++k) {
          top = number_max(top, widen(batch.x[k / kPack].x[k % kPack]));
        }
        const V base = Peak<V>::base(top);
        V more = 0;
#pragma unroll
        for (int k = 0; k < B::kCount * kPack; ++k) {
          more += exp(widen(batch.x[k / kPack].x[k % kPack]) - base);
        }
        total = total * exp(before - base) + more;
      }
    });
    most.of(t) = own.of(t) = top;
    sum.of(t) = total;
  }
  team_totals<Peak<V>, kThreads>(lane, most);
  GT_ALONE(t) {
    sum.of(t) = sum.of(t) * exp(own.of(t) - Peak<V>::base(most.of(t)));
  }
  team_totals<Sum<V>, kThreads>(lane, sum);
  return {most.of(0), sum.of(0)};
}

// For each element of a row of x, y gets of(i, x's). The last come first: they
// were read last, and are still near. Nothing reads x or y soon.
template <typename T, typename Of>
inline void write_row(const T* x, T* y, Row row, int64_t n, bool whole, int t,
                      const Of& of) {
  using B = Batch<T>;
  constexpr int kPack = kPackOf<T>;
  constexpr int64_t kAll = B::kCount * B::kStep;
  with_constant(whole, [&](auto is_whole) {
    for (int64_t step = (n + kAll - 1) / kAll; step-- > 0;) {
      const int64_t i = step * kAll + t * kPack;
      B batch;
#pragma unroll
      for (int k = 0; k < B::kCount; ++k) {
        const int64_t at = i + k * B::kStep;
        const T* from = x + row.at(at);
        if constexpr (is_whole.value) {
          if (at < n) {
            batch.x[k] = load_last<Pack<T>>(from);
          }
        } else {
          batch.x[k] = load_pack<false, kPack>(from, row.step, n - at, T{});
        }
      }
#pragma unroll
      for (int k = 0; k < B::kCount; ++k) {
        const int64_t at = i + k * B::kStep;
        if (at >= n) break;
        Pack<T> made;
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          made.x[j] = to<T>(of(at + j, widen(batch.x[k].x[j])));
        }
        if constexpr (is_whole.value) {
          store_rest(y + row.at(at), made);
        } else {
          store_pack<false>(y + row.at(at), row.step, n - at, made);
        }
      }
    }
  });
}

// ---- softmax ----------------------------------------------------------------

template <typename T, bool kLog>
inline void softmax(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[kWarps];
  const T* x = in<T>(a, 0);
  const int64_t n = a.n[1];
  const bool whole = has_packs<T>(a, a.in[0] | a.out[0]);
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const auto [most, sum] = exponentials(lane, n, x, row, whole);
    const V top = most;
    const V last = kLog ? log(sum) : V(1) / sum;
    GT_ALONE(t) {
      write_row(x, out<T>(a, 0), row, n, whole, t, [&](int64_t, V z) {
        return kLog ? z - top - last : exp(z - top) * last;
      });
    }
  }
}

// Of g and y, the result: y (g - sum(g y)), or g - exp(y) sum(g).
template <typename G, typename T, typename R, bool kLog>
inline void softmax_grad(const Args& a) {
  using V = Wide<R>;
  GT_SHARED V lane[kWarps];
  const G* g = in<G>(a, 0);
  const T* y = in<T>(a, 1);
  R* z = out<R>(a, 0);
  const int64_t n = a.n[1];
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const V sum = row_total<Sum<V>>(lane, n, [&](int64_t i) {
      const V each = widen(g[row.at(i)]);
      return kLog ? each : each * V(widen(y[row.at(i)]));
    });
    GT_ALONE(t) {
      GT_ROW(t, i, n) {
        const V d = widen(g[row.at(i)]);
        const V p = widen(y[row.at(i)]);
        z[row.at(i)] = to<R>(kLog ? d - exp(p) * sum : d * p - p * sum);
      }
    }
  }
}

// ---- norms ------------------------------------------------------------------

// A row's x is normalised as (x - shift) * scale.
template <typename V>
struct Normal {
  V shift, scale;
  V of(V x) const { return (x - shift) * scale; }
};

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
  V at(int k, int j) const { return widen(x[k].x[j]); }

  V sum() const {
    V total = 0;
#pragma unroll
    for (int k = 0; k < kHeld * kPack; ++k) total += at(k / kPack, k % kPack);
    return total;
  }
  // Of the squares of what elements differ from `shift`.
  V squares(V shift, int n, bool whole, int t) const {
    V total = 0;
    with_constant(whole, [&](auto is_whole) {
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        const int left = n - first(t, k);
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          const V d = at(k, j) - shift;
          if (left > (is_whole.value ? 0 : j)) total += d * d;
        }
      }
    });
    return total;
  }

  Pack<T> x[kHeld];
};

// eps is the bits of Args::n[3].
template <bool kCenter, typename T, int kTeam, int kHeld>
inline void normals_of(const Args& a, bool whole, Wide<T>* lane,
                       Own<Held<T, kTeam, kHeld>>& x,
                       Own<Normal<Wide<T>>>& normal) {
  using V = Wide<T>;
  const auto n = static_cast<int>(a.n[1]);
  const V count = static_cast<V>(n);
  const V eps = static_cast<V>(bits_as<f64>(a.n[3]));
  Own<V> total;
  if constexpr (kCenter) {
    GT_ALONE(t) { total.of(t) = x.of(t).sum(); }
    team_totals<Sum<V>, kTeam>(lane, total);
  }
  GT_ALONE(t) {
    const V shift = kCenter ? total.of(t) / count : V(0);
    normal.of(t).shift = shift;
    total.of(t) = x.of(t).squares(shift, n, whole, t);
  }
  team_totals<Sum<V>, kTeam>(lane, total);
  GT_ALONE(t) {
    normal.of(t).scale = V(1) / root(total.of(t) / count + eps);
  }
}

// x, w or null, b or null. A team for each row.
template <typename T, bool kCenter, int kTeam, int kHeld>
inline void norm(const Args& a) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  constexpr int kTeams = kThreads / kTeam;
  GT_SHARED V lane[kWarps];
  const auto n = static_cast<int>(a.n[1]);
  const bool whole =
      has_packs<T>(a, a.in[0] | a.in[1] | a.in[2] | a.out[0]);
  const T* w = in<T>(a, 1);
  const T* c = in<T>(a, 2);
  GT_BLOCKS(b, (a.n[0] + kTeams - 1) / kTeams) {
    Own<H> x;
    Own<Normal<V>> normal;
    GT_ALONE(t) {
      const int64_t r = b * kTeams + t / kTeam;
      x.of(t).load(in<T>(a, 0) + r * n, r < a.n[0] ? n : 0, whole, t);
    }
    normals_of<kCenter>(a, whole, lane, x, normal);
    GT_ALONE(t) {
      const int64_t r = b * kTeams + t / kTeam;
      const Normal<V> by = normal.of(t);
      const int here = r < a.n[0] ? n : 0;
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
        H::store(out<T>(a, 0) + r * n, here, whole, t, k, y);
      }
    }
  }
}

// A thread's sums over rows, of the columns that it has of each.
template <typename T, int kTeam, int kHeld>
struct ColumnSums {
  Wide<T> sum[kHeld][kPackOf<T>];
};
// What the block has of them becomes row b of result k. `place`: packs of the
// block's threads.
template <typename T, int kTeam, int kHeld>
inline void write_sums(const Args& a, int64_t b, int k_out,
                       Several<Wide<T>, kPackOf<T>>* place,
                       Own<ColumnSums<T, kTeam, kHeld>>& sums) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  const auto n = static_cast<int>(a.n[1]);
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
        // A team's packs lie side by side, as in the row.
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

// g, x, w or null: gx = (h - mean h - z mean(h z)) scale, h = g w and z the
// normalised x; the first mean is left out where x is not centered. A team for
// each row, a block for Args::n[5] rows, n[6] blocks. Of the sums over a
// block's rows, out[1] gets those of g z if kSums > 0, and out[2] those of g if
// kSums > 1.
template <typename T, bool kCenter, int kTeam, int kHeld, int kSums>
inline void norm_grad(const Args& a) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  constexpr int kTeams = kThreads / kTeam;
  GT_SHARED V lane[2 * kWarps];
  GT_SHARED Several<V, H::kPack> place[kTeams > 1 && kSums > 0 ? kThreads : 1];
  const auto n = static_cast<int>(a.n[1]);
  const V count = static_cast<V>(n);
  const bool whole =
      has_packs<T>(a, a.in[0] | a.in[1] | a.in[2] | a.out[0]);
  const T* w = in<T>(a, 2);
  const auto weighted = [&](V g, const Pack<T>& ws, int j) {
    return w == nullptr ? g : g * V(widen(ws.x[j]));
  };
  GT_BLOCKS(b, a.n[6]) {
    Own<ColumnSums<T, kTeam, kHeld>> gw, gb;
    GT_ALONE(t) {
#pragma unroll
      for (int k = 0; k < kHeld * H::kPack; ++k) {
        gw.of(t).sum[k / H::kPack][k % H::kPack] = 0;
        gb.of(t).sum[k / H::kPack][k % H::kPack] = 0;
      }
    }
    const int64_t first = b * a.n[5];
    const int64_t last = first + a.n[5] < a.n[0] ? first + a.n[5] : a.n[0];
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
      normals_of<kCenter>(a, whole, lane, x, normal);
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
            y.x[j] = to<T>((h - shift - z * slope) * by.scale);
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

// ---- cross entropy ----------------------------------------------------------

// A row's class. One that there is not is a fault at its row.
template <typename I>
inline int64_t class_of(const Args& a, int k, int64_t r) {
  const int64_t c = widen(in<I>(a, k)[r]);
  if (c >= 0 && c < a.n[1]) return c;
  fault(a, r);
  return -1;
}

// -log_softmax(x) at each row's class. x, the classes.
template <typename T, typename I, typename R>
inline void cross_entropy(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[kWarps];
  const T* x = in<T>(a, 0);
  const bool whole = has_packs<T>(a, a.in[0]);
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const auto [most, sum] = exponentials(lane, a.n[1], x, row, whole);
    GT_ALONE(t) {
      const int64_t c = t == 0 ? class_of<I>(a, 1, r) : -1;
      if (c >= 0) {
        out<R>(a, 0)[r] = to<R>(log(sum) - (widen(x[row.at(c)]) - most));
      }
    }
  }
}

// (softmax(x) - 1 at the class) g, where g is one for all or, if kEach, one for
// each row, and is divided by Args::n[4]. g, x, the classes.
template <typename T, typename G, typename I, bool kEach>
inline void cross_entropy_grad(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[kWarps];
  const T* x = in<T>(a, 1);
  const bool whole = has_packs<T>(a, a.in[1] | a.out[0]);
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const auto [most, sum] = exponentials(lane, a.n[1], x, row, whole);
    const V top = most;
    const V scale = V(1) / sum;
    const V g = V(widen(in<G>(a, 0)[kEach ? r : 0])) / static_cast<V>(a.n[4]);
    const int64_t c = class_of<I>(a, 2, r);
    GT_ALONE(t) {
      write_row(x, out<T>(a, 0), row, a.n[1], whole, t, [&](int64_t i, V z) {
        const V p = exp(z - top) * scale;
        return (i == c ? p - V(1) : p) * g;
      });
    }
  }
}

}  // namespace gt
