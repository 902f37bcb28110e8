// Softmax and cross entropy. A row that fits into the registers of a team is
// read once; a longer row is read twice, when it is likely to be still in the
// cache.
#pragma once

#include "teams.cuh"

namespace gt {

// Element i of row r lies at begin + i * step.
struct Row {
  int64_t begin, step;
  int64_t at(int64_t i) const { return begin + i * step; }
};
inline Row row_at(const Args& a, int64_t r) {
  return {line_begin(a, r), a.n[entry::kLineStep]};
}

// Returns the total of of(i) over a row's elements to all threads.
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

// The packs of a row that a thread holds at once; between two of them lie packs
// of the block's other threads.
template <typename T>
struct RowPacks {
  static constexpr int kCount = 4;
  static constexpr int64_t kStep = int64_t{kThreads} * kPackOf<T>;
  Pack<T> x[kCount];
};

// The greatest element of a row of x, and the sum of exp(x - most) but for
// those that are 1, and how many are: beside a 1, the digits of the others
// would be lost. Softmax and log_softmax are made of these.
template <typename V>
struct Exponentials {
  V most, rest, ones;
  V sum() const { return rest + ones; }
  // The sum less 1, and the logarithm of the sum.
  V others() const { return rest + (ones - V(1)); }
  V logarithm() const { return log1p(others()); }
  // Adds exp(d), where d is at most 0.
  void add(V d) {
    const bool is_one = d == V(0);
    ones += is_one ? V(1) : V(0);
    rest += is_one ? V(0) : exp(d);
  }
  // Makes the sum one of exp(x - more), where more is greater than most.
  void rescale(V less) {
    if (less == V(0)) return;
    rest = sum() * exp(less);
    ones = 0;
  }
};
template <typename V>
struct Peak {
  using A = V;
  static V join(V a, V b) { return number_max(a, b); }
  // Returns what is subtracted from elements: 0 in place of -inf, since -inf
  // minus -inf would be nan.
  static V base(V most) { return most == Limits<V>::least() ? V(0) : most; }
};

// Computes these for each team's row; every thread gets those of its team.
template <typename T, int kTeam, int kHeld>
inline void exponentials_of(const Args& a, int64_t b, bool whole, Wide<T>* lane,
                            Own<Held<T, kTeam, kHeld>>& x,
                            Own<Exponentials<Wide<T>>>& made) {
  using V = Wide<T>;
  Own<V> part;
  GT_ALONE(t) {
    V most = Limits<V>::least();
    x.of(t).each(TeamRow<kTeam>(a, b, t).n, whole, t,
                 [&](V each) { most = number_max(most, each); });
    part.of(t) = most;
  }
  team_totals<Peak<V>, kTeam>(lane, part);
  Own<V> ones;
  GT_ALONE(t) {
    made.of(t).most = part.of(t);
    const V base = Peak<V>::base(part.of(t));
    Exponentials<V> own{base, 0, 0};
    x.of(t).each(TeamRow<kTeam>(a, b, t).n, whole, t,
                 [&](V each) { own.add(each - base); });
    part.of(t) = own.rest;
    ones.of(t) = own.ones;
  }
  team_totals<Sum<V>, kTeam>(lane, part, ones);
  GT_ALONE(t) {
    made.of(t).rest = part.of(t);
    made.of(t).ones = ones.of(t);
  }
}

// Does the same for a row of any length, with all threads of a block. The sum
// is over the elements met so far, and it is rescaled when a greater element
// comes (M. Milakov and N. Gimelshein, arXiv 1805.02867), so that the row is
// read once.
template <typename V, typename T>
inline Exponentials<V> exponentials(V* lane, int64_t n, const T* x, Row row,
                                    bool whole) {
  using B = RowPacks<T>;
  constexpr int kPack = kPackOf<T>;
  const T least = to<T>(Limits<V>::least());
  Own<V> most, rest, ones;
  Own<Exponentials<V>> own;
  GT_ALONE(t) {
    V top = Limits<V>::least();
    Exponentials<V> total{top, 0, 0};
    with_constant(whole, [&](auto is_whole) {
      for (int64_t i = t * kPack; i < n; i += B::kCount * B::kStep) {
        B packs;
#pragma unroll
        for (int k = 0; k < B::kCount; ++k) {
          const int64_t at = i + k * B::kStep;
          packs.x[k] = load_pack<is_whole.value, kPack>(
              x + row.at(at), row.step, n - at, least);
        }
        const V before = top;
#pragma unroll
        for (int k = 0; k < B::kCount * kPack; ++k) {
          top = number_max(top, widen(packs.x[k / kPack].x[k % kPack]));
        }
        const V base = Peak<V>::base(top);
        total.rescale(before - base);
#pragma unroll
        for (int k = 0; k < B::kCount * kPack; ++k) {
          total.add(widen(packs.x[k / kPack].x[k % kPack]) - base);
        }
      }
    });
    total.most = most.of(t) = top;
    own.of(t) = total;
  }
  team_totals<Peak<V>, kThreads>(lane, most);
  GT_ALONE(t) {
    own.of(t).rescale(own.of(t).most - Peak<V>::base(most.of(t)));
    rest.of(t) = own.of(t).rest;
    ones.of(t) = own.of(t).ones;
  }
  team_totals<Sum<V>, kThreads>(lane, rest, ones);
  return {most.of(0), rest.of(0), ones.of(0)};
}

// Writes of(i, element i of x) to y for each element of a row. It begins with
// the last elements, which were read last and are probably still in the cache.
// Nothing reads x or y soon afterwards.
template <typename T, typename Of>
inline void write_row(const T* x, T* y, Row row, int64_t n, bool whole, int t,
                      const Of& of) {
  using B = RowPacks<T>;
  constexpr int kPack = kPackOf<T>;
  constexpr int64_t kAll = B::kCount * B::kStep;
  with_constant(whole, [&](auto is_whole) {
    for (int64_t step = (n + kAll - 1) / kAll; step-- > 0;) {
      const int64_t i = step * kAll + t * kPack;
      B packs;
#pragma unroll
      for (int k = 0; k < B::kCount; ++k) {
        const int64_t at = i + k * B::kStep;
        const T* from = x + row.at(at);
        if constexpr (is_whole.value) {
          if (at < n) {
            packs.x[k] = load_last<Pack<T>>(from);
          }
        } else {
          packs.x[k] = load_pack<false, kPack>(from, row.step, n - at, T{});
        }
      }
#pragma unroll
      for (int k = 0; k < B::kCount; ++k) {
        const int64_t at = i + k * B::kStep;
        if (at >= n) break;
        Pack<T> made;
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          made.x[j] = to<T>(of(at + j, widen(packs.x[k].x[j])));
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

// Maps an element z of a row to that of softmax, or of its logarithm.
template <typename V, bool kLog>
struct SoftmaxOf {
  explicit SoftmaxOf(const Exponentials<V>& row)
      : top(row.most), last(kLog ? row.logarithm() : V(1) / row.sum()) {}
  V operator()(V z) const {
    return kLog ? z - top - last : exp(z - top) * last;
  }
  V top, last;
};

// Computes softmax of the rows that From gives; a team works on each row.
template <typename T, typename From, bool kLog, int kTeam, int kHeld>
inline void softmax_held(const Args& a) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  using Row = TeamRow<kTeam>;
  GT_SHARED V lane[2 * kWarps];
  const bool whole = From::are_even(a) && has_packs<T>(a, a.out[0]);
  GT_BLOCKS(b, team_turns<kTeam>(a)) {
    Own<H> x;
    Own<Exponentials<V>> parts;
    GT_ALONE(t) {
      const Row row(a, b, t);
      x.of(t).template take<From>(a, row.begin, row.n, whole, t);
    }
    exponentials_of(a, b, whole, lane, x, parts);
    GT_ALONE(t) {
      const Row row(a, b, t);
      const SoftmaxOf<V, kLog> of(parts.of(t));
      H::write(out<T>(a, 0) + row.begin, row.n, whole, t,
               [&](int k, int j) { return of(x.of(t).at(k, j)); });
    }
  }
}

// Returns an element of the gradient of softmax, or of its logarithm. d is the
// element of g, p that of the result y, and `sum` is the row's sum of g y, or
// of g.
template <bool kLog, typename V>
inline V softmax_slope(V d, V p, V sum) {
  return kLog ? d - exp(p) * sum : d * p - p * sum;
}

// in: g and y, which have the dtype T of the result. A team works on each row.
template <typename T, bool kLog, int kTeam, int kHeld>
inline void softmax_grad_held(const Args& a) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  using Row = TeamRow<kTeam>;
  GT_SHARED V lane[kWarps];
  const bool whole = has_packs<T>(a, a.in[0] | a.in[1] | a.out[0]);
  GT_BLOCKS(b, team_turns<kTeam>(a)) {
    Own<H> g, y;
    Own<V> sum;
    GT_ALONE(t) {
      const Row row(a, b, t);
      g.of(t).load(in<T>(a, 0) + row.begin, row.n, whole, t);
      y.of(t).load(in<T>(a, 1) + row.begin, row.n, whole, t);
      V total = 0;
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
#pragma unroll
        for (int j = 0; j < H::kPack; ++j) {
          // Where the row has no elements, these are zeros.
          const V each = g.of(t).at(k, j);
          total += kLog ? each : each * y.of(t).at(k, j);
        }
      }
      sum.of(t) = total;
    }
    team_totals<Sum<V>, kTeam>(lane, sum);
    GT_ALONE(t) {
      const Row row(a, b, t);
      H::write(out<T>(a, 0) + row.begin, row.n, whole, t, [&](int k, int j) {
        return softmax_slope<kLog>(g.of(t).at(k, j), y.of(t).at(k, j),
                                   sum.of(t));
      });
    }
  }
}

template <typename T, bool kLog>
inline void softmax(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[2 * kWarps];
  const T* x = in<T>(a, 0);
  const int64_t n = a.n[entry::kLineSize];
  const bool whole = has_packs<T>(a, a.in[0] | a.out[0]);
  GT_BLOCKS(r, a.n[entry::kLines]) {
    const Row row = row_at(a, r);
    const SoftmaxOf<V, kLog> of(exponentials(lane, n, x, row, whole));
    GT_ALONE(t) {
      write_row(x, out<T>(a, 0), row, n, whole, t,
                [&](int64_t, V z) { return of(z); });
    }
  }
}

// Computes the same gradient for any dtypes; a block works on each row.
template <typename G, typename T, typename R, bool kLog>
inline void softmax_grad(const Args& a) {
  using V = Wide<R>;
  GT_SHARED V lane[kWarps];
  const G* g = in<G>(a, 0);
  const T* y = in<T>(a, 1);
  R* z = out<R>(a, 0);
  const int64_t n = a.n[entry::kLineSize];
  GT_BLOCKS(r, a.n[entry::kLines]) {
    const Row row = row_at(a, r);
    const V sum = row_total<Sum<V>>(lane, n, [&](int64_t i) {
      const V each = widen(g[row.at(i)]);
      return kLog ? each : each * V(widen(y[row.at(i)]));
    });
    GT_ALONE(t) {
      GT_ROW(t, i, n) {
        const V d = widen(g[row.at(i)]);
        const V p = widen(y[row.at(i)]);
        z[row.at(i)] = to<R>(softmax_slope<kLog>(d, p, sum));
      }
    }
  }
}

// ---- cross entropy ----------------------------------------------------------

// Returns a row's class. A class that does not exist is reported as a fault at
// its row, and gives -1.
template <typename I>
inline int64_t class_of(const Args& a, int k, int64_t r) {
  const int64_t c = widen(in<I>(a, k)[r]);
  if (c >= 0 && c < a.n[entry::kLineSize]) return c;
  fault(a, r);
  return -1;
}

// Computes -log_softmax(x) at each row's class. in: x, the classes. A block
// works on each row.
template <typename T, typename I, typename R>
inline void cross_entropy(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[2 * kWarps];
  const T* x = in<T>(a, 0);
  const bool whole = has_packs<T>(a, a.in[0]);
  GT_BLOCKS(r, a.n[entry::kLines]) {
    const Row row = row_at(a, r);
    const auto made = exponentials(lane, a.n[entry::kLineSize], x, row, whole);
    GT_ALONE(t) {
      const int64_t c = t == 0 ? class_of<I>(a, 1, r) : -1;
      if (c >= 0) {
        out<R>(a, 0)[r] =
            to<R>(made.logarithm() - (widen(x[row.at(c)]) - made.most));
      }
    }
  }
}

// Does the same with a team for each row.
template <typename T, typename I, typename R, int kTeam, int kHeld>
inline void cross_entropy_held(const Args& a) {
  using V = Wide<T>;
  using Row = TeamRow<kTeam>;
  GT_SHARED V lane[2 * kWarps];
  const bool whole = has_packs<T>(a, a.in[0]);
  GT_BLOCKS(b, team_turns<kTeam>(a)) {
    Own<Held<T, kTeam, kHeld>> x;
    Own<Exponentials<V>> parts;
    GT_ALONE(t) {
      const Row row(a, b, t);
      x.of(t).load(in<T>(a, 0) + row.begin, row.n, whole, t);
    }
    exponentials_of(a, b, whole, lane, x, parts);
    GT_ALONE(t) {
      const Row row(a, b, t);
      const bool tells = t % kTeam == 0 && row.n > 0;
      const int64_t c = tells ? class_of<I>(a, 1, row.r) : -1;
      if (c >= 0) {
        const V at = widen(in<T>(a, 0)[row.begin + c]);
        out<R>(a, 0)[row.r] =
            to<R>(parts.of(t).logarithm() - (at - parts.of(t).most));
      }
    }
  }
}

// Computes an element of (softmax(x) - 1 at the class) g from the row's element
// z at i. g is divided by the divisor; there is one g for all rows or, if
// kEach, one for each.
template <typename V>
struct ClassSlope {
  template <bool kEach, typename G, typename I>
  static ClassSlope of(const Args& a, const Exponentials<V>& row, int64_t r) {
    const V g = V(widen(in<G>(a, 0)[kEach ? r : 0])) /
                static_cast<V>(a.n[entry::kDivisor]);
    return {row.most, row.others(), V(1) / row.sum(), g, class_of<I>(a, 2, r)};
  }
  // At the class, softmax is nearly 1, which is not subtracted from it.
  V at(int64_t i, V z) const {
    const V d = z - top;
    return (i == c ? expm1(d) - others : exp(d)) * scale * g;
  }
  V top, others, scale, g;
  int64_t c;
};

// in: g, x and the classes. A block works on each row.
template <typename T, typename G, typename I, bool kEach>
inline void cross_entropy_grad(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[2 * kWarps];
  const T* x = in<T>(a, 1);
  const bool whole = has_packs<T>(a, a.in[1] | a.out[0]);
  GT_BLOCKS(r, a.n[entry::kLines]) {
    const Row row = row_at(a, r);
    const auto slope = ClassSlope<V>::template of<kEach, G, I>(
        a, exponentials(lane, a.n[entry::kLineSize], x, row, whole), r);
    GT_ALONE(t) {
      write_row(x, out<T>(a, 0), row, a.n[entry::kLineSize], whole, t,
                [&](int64_t i, V z) { return slope.at(i, z); });
    }
  }
}

// Does the same with a team for each row.
template <typename T, typename G, typename I, bool kEach, int kTeam, int kHeld>
inline void cross_entropy_grad_held(const Args& a) {
  using V = Wide<T>;
  using H = Held<T, kTeam, kHeld>;
  using Row = TeamRow<kTeam>;
  GT_SHARED V lane[2 * kWarps];
  const bool whole = has_packs<T>(a, a.in[1] | a.out[0]);
  GT_BLOCKS(b, team_turns<kTeam>(a)) {
    Own<H> x;
    Own<Exponentials<V>> parts;
    GT_ALONE(t) {
      const Row row(a, b, t);
      x.of(t).load(in<T>(a, 1) + row.begin, row.n, whole, t);
    }
    exponentials_of(a, b, whole, lane, x, parts);
    GT_ALONE(t) {
      const Row row(a, b, t);
      if (row.n == 0) continue;
      const auto slope =
          ClassSlope<V>::template of<kEach, G, I>(a, parts.of(t), row.r);
      H::write(out<T>(a, 0) + row.begin, row.n, whole, t, [&](int k, int j) {
        return slope.at(H::first(t, k) + j, x.of(t).at(k, j));
      });
    }
  }
}

}  // namespace gt
