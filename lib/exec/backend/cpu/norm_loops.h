// Normalises rows, and computes the gradients; see pack.h for who may include
// this.
#pragma once

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/network_loops.h"
#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// Sums map(i, left) over a row; lanes past the end count as 0.
template <typename T, typename Map>
inline double sum_row(int64_t n, const Map& map) {
  return join_row<Sum, T>(n, [&](int64_t i, int64_t left) {
    const Pack<T> x = map(i, left);
    return left == kWidth<T> ? x : first_lanes<T>(left) ? x : Pack<T>{};
  });
}

// A row's x is normalised to (x - shift - rest) * scale, where rest is what the
// shift lost to rounding if that counts. If the squares leave the range of T,
// or x without the shift might, `far` is set alone.
template <typename T>
struct Normal {
  T shift, rest, scale;
  bool far = false;
};

// The same in a type that has range for all squares.
template <bool kCenter, typename T>
struct FarNormal {
  FarNormal(const T* x, int64_t n, double eps) {
    long double square = 0;
    for (int64_t i = 0; kCenter && i < n; ++i) mean += x[i];
    mean /= static_cast<long double>(n);
    for (int64_t i = 0; i < n; ++i) square += (x[i] - mean) * (x[i] - mean);
    scale = 1 / __builtin_sqrtl(square / static_cast<long double>(n) + eps);
  }
  long double of(T x) const { return (x - mean) * scale; }

  long double mean = 0, scale = 0;
};

// Returns x without the shift and its rest. Where nothing is shifted, a
// subtraction of 0 would still take its time.
template <bool kCenter, typename T>
inline Pack<T> shifted(Pack<T> x, Pack<T> shift, Pack<T> rest) {
  if constexpr (!kCenter) return x;
  return x - shift - rest;
}

template <bool kCenter, typename T>
inline Normal<T> normal_of(const T* x, int64_t n, double eps) {
  const auto count = static_cast<double>(n);
  const T shift =
      kCenter ? static_cast<T>(reduce_row<Sum, T>(x, n) / count) : T{0};
  const Pack<T> m = splat(shift);
  const auto squares = [&](Pack<T> r) {
    return sum_row<T>(n, [&](int64_t i, int64_t left) {
      const Pack<T> d = shifted<kCenter, T>(get(x + i, left), m, r);
      return d * d;
    });
  };
  T rest = 0;
  double square = squares(Pack<T>{});
  // Where the mean is large beside the spread, its last digit counts.
  if (kCenter && square * 16 < count * static_cast<double>(shift) * shift) {
    rest = static_cast<T>(
        sum_row<T>(
            n, [&](int64_t i, int64_t left) { return get(x + i, left) - m; }) /
        count);
    square = squares(splat(rest));
  }
  if (!(square < __builtin_inf()) ||
      (square < count * kLeastSquare<T> && eps < kLeastSquare<T>)) {
    return {0, 0, 0, true};
  }
  return {shift, rest,
          static_cast<T>(1 / __builtin_sqrt(square / count + eps))};
}

template <bool kCenter, typename T>
[[gnu::noinline]] void norm_far(const T* x, const T* w, const T* b, T* y,
                                int64_t n, double eps) {
  const FarNormal<kCenter, T> by(x, n, eps);
  for (int64_t i = 0; i < n; ++i) {
    long double z = by.of(x[i]);
    if (w != nullptr) z *= w[i];
    if (b != nullptr) z += b[i];
    y[i] = static_cast<T>(z);
  }
}

template <bool kCenter, typename T>
void norm(const T* x, const T* w, const T* b, T* y, int64_t n, double eps) {
  const Normal<T> by = normal_of<kCenter>(x, n, eps);
  if (by.far) return norm_far<kCenter>(x, w, b, y, n, eps);
  const Pack<T> shift = splat(by.shift);
  const Pack<T> rest = splat(by.rest);
  const Pack<T> scale = splat(by.scale);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    Pack<T> z = shifted<kCenter, T>(get(x + i, left), shift, rest) * scale;
    if (w != nullptr) z *= get(w + i, left);
    if (b != nullptr) z += get(b + i, left);
    put<T>(y, i, z, left);
  });
}

// gx = (h - mean h - z mean(h z)) scale, where h = g w and z is the normalised
// x; the first mean is left out if x is not centered. gw += g z, gb += g.
template <bool kCenter, typename T>
[[gnu::noinline]] void norm_grad_far(const T* g, const T* x, const T* w, T* gx,
                                     T* gw, T* gb, int64_t n, double eps) {
  const FarNormal<kCenter, T> by(x, n, eps);
  const auto weighted = [&](int64_t i) {
    const long double h = g[i];
    return w == nullptr ? h : h * w[i];
  };
  long double along = 0, mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    along += weighted(i) * by.of(x[i]);
    if (kCenter) mean += weighted(i);
  }
  along /= static_cast<long double>(n);
  mean /= static_cast<long double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const long double z = by.of(x[i]);
    const long double d = (weighted(i) - mean - z * along) * by.scale;
    if (gw != nullptr) gw[i] += static_cast<T>(g[i] * z);
    if (gb != nullptr) gb[i] += g[i];
    gx[i] = static_cast<T>(d);
  }
}

template <bool kCenter, typename T>
void norm_grad(const T* g, const T* x, const T* w, T* gx, T* gw, T* gb,
               int64_t n, double eps) {
  const Normal<T> by = normal_of<kCenter>(x, n, eps);
  if (by.far) return norm_grad_far<kCenter>(g, x, w, gx, gw, gb, n, eps);
  const Pack<T> shift = splat(by.shift);
  const Pack<T> rest = splat(by.rest);
  const Pack<T> scale = splat(by.scale);
  const auto normal = [&](int64_t i, int64_t left) {
    return shifted<kCenter, T>(get(x + i, left), shift, rest) * scale;
  };
  const auto weighted = [&](int64_t i, int64_t left) {
    const Pack<T> h = get(g + i, left);
    return w == nullptr ? h : h * get(w + i, left);
  };
  const auto count = static_cast<double>(n);
  const Pack<T> along = splat(
      static_cast<T>(sum_row<T>(n,
                                [&](int64_t i, int64_t left) {
                                  return weighted(i, left) * normal(i, left);
                                }) /
                     count));
  const Pack<T> mean =
      kCenter ? splat(static_cast<T>(sum_row<T>(n, weighted) / count))
              : Pack<T>{};
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    const Pack<T> z = normal(i, left);
    const Pack<T> d = get(g + i, left);
    if (gw != nullptr) put<T>(gw, i, get(gw + i, left) + d * z, left);
    if (gb != nullptr) put<T>(gb, i, get(gb + i, left) + d, left);
    put<T>(gx, i, (weighted(i, left) - mean - z * along) * scale, left);
  });
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
