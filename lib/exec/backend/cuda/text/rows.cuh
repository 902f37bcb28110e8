// Softmax, norms and losses: a block of threads for each row. What an expansion
// would write and read again stays in the block.
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

// The total of of(i) over a row's elements, known to all threads.
template <typename F, typename Of>
inline typename F::A row_total(typename F::A* lane, int64_t n, const Of& of) {
  GT_PHASE(t) {
    typename F::A total = F::none();
    for (int64_t i = t; i < n; i += kThreads) total = F::join(total, of(i));
    lane[t] = total;
  }
  for (int half = kThreads / 2; half > 0; half /= 2) {
    GT_PHASE(t) {
      if (t < half) lane[t] = F::join(lane[t], lane[t + half]);
    }
  }
  const typename F::A total = lane[0];
  GT_BARRIER();
  return total;
}

#define GT_ROW(t, i, n) for (int64_t i = t; i < (n); i += kThreads)

// The greatest element of a row of x, and the sum of exp(x - most): the parts
// that softmax and log_softmax are made of.
template <typename V>
struct Exponentials {
  V most, sum;
};
template <typename V, typename T>
inline Exponentials<V> exponentials(V* lane, int64_t n, const T* x, Row row) {
  const V most = row_total<Max<V>>(
      lane, n, [&](int64_t i) { return widen(x[row.at(i)]); });
  const V sum = row_total<Sum<V>>(
      lane, n, [&](int64_t i) { return exp(widen(x[row.at(i)]) - most); });
  return {most, sum};
}

// ---- softmax ----------------------------------------------------------------

template <typename T, bool kLog>
inline void softmax(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[kThreads];
  const T* x = in<T>(a, 0);
  T* y = out<T>(a, 0);
  const int64_t n = a.n[1];
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const auto [most, sum] = exponentials(lane, n, x, row);
    const V log_sum = kLog ? log(sum) : V(0);
    GT_PHASE(t) {
      GT_ROW(t, i, n) {
        const V c = widen(x[row.at(i)]) - most;
        y[row.at(i)] = to<T>(kLog ? c - log_sum : exp(c) / sum);
      }
    }
  }
}

// Of g and y, the result: y (g - sum(g y)), or g - exp(y) sum(g).
template <typename G, typename T, typename R, bool kLog>
inline void softmax_grad(const Args& a) {
  using V = Wide<R>;
  GT_SHARED V lane[kThreads];
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
    GT_PHASE(t) {
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

// eps is the bits of Args::n[3].
template <bool kCenter, typename V, typename X>
inline Normal<V> normal_of(const Args& a, V* lane, const X* x, Row row) {
  const int64_t n = a.n[1];
  const V count = static_cast<V>(n);
  V shift = 0;
  if constexpr (kCenter) {
    shift = row_total<Sum<V>>(
                lane, n, [&](int64_t i) { return V(widen(x[row.at(i)])); }) /
            count;
  }
  const V square = row_total<Sum<V>>(lane, n, [&](int64_t i) {
    const V d = V(widen(x[row.at(i)])) - shift;
    return d * d;
  });
  const V eps = static_cast<V>(bits_as<f64>(a.n[3]));
  return {shift, V(1) / root(square / count + eps)};
}

// x, w or null, b or null.
template <typename T, bool kCenter>
inline void norm(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[kThreads];
  const T* x = in<T>(a, 0);
  const T* w = in<T>(a, 1);
  const T* b = in<T>(a, 2);
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const Normal<V> by = normal_of<kCenter>(a, lane, x, row);
    GT_PHASE(t) {
      GT_ROW(t, i, a.n[1]) {
        V z = by.of(widen(x[row.at(i)]));
        if (w != nullptr) z = z * V(widen(w[i]));
        if (b != nullptr) z = z + V(widen(b[i]));
        out<T>(a, 0)[row.at(i)] = to<T>(z);
      }
    }
  }
}

// g, x, w or null: gx = (h - mean h - z mean(h z)) scale, h = g w and z the
// normalised x; the first mean is left out where x is not centered. out[1], if
// not null, gets each row's Normal.
template <typename T, bool kCenter>
inline void norm_grad(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[kThreads];
  const T* g = in<T>(a, 0);
  const T* x = in<T>(a, 1);
  const T* w = in<T>(a, 2);
  const V count = static_cast<V>(a.n[1]);
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const Normal<V> by = normal_of<kCenter>(a, lane, x, row);
    const auto weighted = [&](int64_t i) {
      const V h = widen(g[row.at(i)]);
      return w == nullptr ? h : h * V(widen(w[i]));
    };
    const V along = row_total<Sum<V>>(lane, a.n[1], [&](int64_t i) {
                      return weighted(i) * by.of(widen(x[row.at(i)]));
                    }) /
                    count;
    V mean = 0;
    if constexpr (kCenter) {
      mean = row_total<Sum<V>>(lane, a.n[1], weighted) / count;
    }
    GT_PHASE(t) {
      GT_ROW(t, i, a.n[1]) {
        const V z = by.of(widen(x[row.at(i)]));
        out<T>(a, 0)[row.at(i)] =
            to<T>((weighted(i) - mean - z * along) * by.scale);
      }
      if (t == 0 && a.out[1] != 0) out<Normal<V>>(a, 1)[r] = by;
    }
  }
}

// The terms of gw, a sum over rows: g times the normalised x. in: g, x, and the
// rows' Normals.
template <typename F, typename T>
struct NormTerms {
  static typename F::A at(const Args& a, int64_t place, int64_t row) {
    using V = Wide<T>;
    const Normal<V> by = in<Normal<V>>(a, 2)[row];
    const V g = widen(in<T>(a, 0)[place]);
    return g * by.of(widen(in<T>(a, 1)[place]));
  }
};

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
  GT_SHARED V lane[kThreads];
  const T* x = in<T>(a, 0);
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const auto [most, sum] = exponentials(lane, a.n[1], x, row);
    GT_PHASE(t) {
      const int64_t c = t == 0 ? class_of<I>(a, 1, r) : -1;
      if (c >= 0) {
        out<R>(a, 0)[r] = to<R>(log(sum) - (widen(x[row.at(c)]) - most));
      }
    }
  }
}

// (softmax(x) - 1 at the class) g, where g is one for all or, if kEach, one for
// each row, and is divided by Args::n[4]. g, x, the classes.
template <typename T, typename I, bool kEach>
inline void cross_entropy_grad(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V lane[kThreads];
  const T* x = in<T>(a, 1);
  GT_BLOCKS(r, a.n[0]) {
    const Row row = row_at(a, r);
    const auto [most, sum] = exponentials(lane, a.n[1], x, row);
    const V g = V(widen(in<T>(a, 0)[kEach ? r : 0])) / static_cast<V>(a.n[4]);
    GT_PHASE(t) {
      const int64_t c = class_of<I>(a, 2, r);
      GT_ROW(t, i, a.n[1]) {
        const V p = exp(widen(x[row.at(i)]) - most) / sum;
        out<T>(a, 0)[row.at(i)] = to<T>((i == c ? p - V(1) : p) * g);
      }
    }
  }
}

}  // namespace gt
