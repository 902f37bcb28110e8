// Pools and their gradients. A plane is one channel of one image. A gradient is
// gathered at each pixel from the windows that contain the pixel, in their
// order.
#pragma once

#include "windows.cuh"

namespace gt {

// Args::n of all kernels here: results, the axes, and whether the margin counts
// in a mean.
struct PoolSizes {
  explicit PoolSizes(const Args& a)
      : h(a.n + 1), w(a.n + 7), whole(a.n[13] != 0) {}
  int64_t image() const { return h.in * w.in; }
  int64_t made() const { return h.out * w.out; }

  // Calls use(place in the plane) for each element of the window that is inside
  // the image.
  template <typename Use>
  void elements(int64_t p, int64_t q, const Use& use) const {
    for (int64_t i = 0; i < h.kernel; ++i) {
      const int64_t row = h.at(p, i);
      if (row < 0) continue;
      for (int64_t j = 0; j < w.kernel; ++j) {
        const int64_t column = w.at(q, j);
        if (column >= 0) use(row * w.in + column);
      }
    }
  }
  // Calls use(window) for each window that contains the pixel, in the order of
  // the windows.
  template <typename Use>
  void windows(int64_t pixel, const Use& use) const {
    for (int64_t i = h.kernel; i-- > 0;) {
      const int64_t p = h.window_of(pixel / w.in, i);
      if (p < 0) continue;
      for (int64_t j = w.kernel; j-- > 0;) {
        const int64_t q = w.window_of(pixel % w.in, j);
        if (q >= 0) use(p * w.out + q);
      }
    }
  }
  // Returns the number of elements that a mean divides by.
  int64_t count(int64_t p, int64_t q) const {
    if (whole) return h.kernel * w.kernel;
    int64_t n = 0;
    elements(p, q, [&](int64_t) { ++n; });
    return n;
  }

  WindowAxis<int64_t> h, w;
  bool whole;
};

// Returns where x is largest in a window: the first of equal elements, and nan
// before all others. Returns -1 if only the margin, which counts as -inf, is
// that large.
template <typename T>
inline int64_t largest_at(const PoolSizes& s, const T* x, int64_t p,
                          int64_t q) {
  using V = Wide<T>;
  V best = -V(bits_as<f32>(0x7f800000));
  int64_t found = -1;
  bool is_first = s.h.at(p, 0) >= 0 && s.w.at(q, 0) >= 0;
  s.elements(p, q, [&](int64_t at) {
    const V value = widen(x[at]);
    if (is_first || value > best || (value != value && best == best)) {
      best = value;
      found = at;
    }
    is_first = false;
  });
  return found;
}

template <typename T>
inline void max_pool(const Args& a) {
  const PoolSizes s(a);
  GT_EACH(i, a.n[0]) {
    const int64_t window = i % s.made();
    const T* x = in<T>(a, 0) + i / s.made() * s.image();
    const int64_t at = largest_at(s, x, window / s.w.out, window % s.w.out);
    out<T>(a, 0)[i] =
        at < 0 ? to<T>(-Wide<T>(bits_as<f32>(0x7f800000))) : x[at];
  }
}

// Writes where each window of x has its largest element.
template <typename T>
inline void max_pool_places(const Args& a) {
  const PoolSizes s(a);
  GT_EACH(i, a.n[0]) {
    const int64_t window = i % s.made();
    out<int64_t>(a, 0)[i] =
        largest_at(s, in<T>(a, 0) + i / s.made() * s.image(), window / s.w.out,
                   window % s.w.out);
  }
}

// in: g, and the places that max_pool_places wrote.
template <typename T>
inline void max_pool_grad(const Args& a) {
  const PoolSizes s(a);
  GT_EACH(i, a.n[0]) {
    const int64_t pixel = i % s.image();
    const int64_t first = i / s.image() * s.made();
    Wide<T> sum = 0;
    s.windows(pixel, [&](int64_t window) {
      if (in<int64_t>(a, 1)[first + window] == pixel) {
        sum += widen(in<T>(a, 0)[first + window]);
      }
    });
    out<T>(a, 0)[i] = to<T>(sum);
  }
}

template <typename T>
inline void avg_pool(const Args& a) {
  const PoolSizes s(a);
  GT_EACH(i, a.n[0]) {
    const int64_t p = i % s.made() / s.w.out;
    const int64_t q = i % s.w.out;
    const T* x = in<T>(a, 0) + i / s.made() * s.image();
    Wide<T> sum = 0;
    s.elements(p, q, [&](int64_t at) { sum += widen(x[at]); });
    out<T>(a, 0)[i] = to<T>(sum / static_cast<Wide<T>>(s.count(p, q)));
  }
}

template <typename T>
inline void avg_pool_grad(const Args& a) {
  const PoolSizes s(a);
  GT_EACH(i, a.n[0]) {
    const int64_t first = i / s.image() * s.made();
    Wide<T> sum = 0;
    s.windows(i % s.image(), [&](int64_t window) {
      const Wide<T> g = widen(in<T>(a, 0)[first + window]);
      sum +=
          g / static_cast<Wide<T>>(s.count(window / s.w.out, window % s.w.out));
    });
    out<T>(a, 0)[i] = to<T>(sum);
  }
}

}  // namespace gt
