// Integers that wrap, for use in formulas.
#pragma once

#include "common.cuh"

namespace gt {

template <typename T>
struct Wrap {
  T value;
  Wrap() : value(0) {}
  // Takes the low bits of any integer, as many as fit.
  Wrap(int64_t x) : value(static_cast<T>(x)) {}  // NOLINT: as T itself
};

#define GT_WRAPPING(sign)                                                 \
  template <typename T>                                                   \
  inline Wrap<T> operator sign(Wrap<T> a, Wrap<T> b) {                    \
    return static_cast<int64_t>(static_cast<uint64_t>(a.value)            \
                                    sign static_cast<uint64_t>(b.value)); \
  }                                                                       \
  template <typename T>                                                   \
  inline Wrap<T> operator sign(Wrap<T> a, int b) {                        \
    return a sign Wrap<T>(b);                                             \
  }
GT_WRAPPING(+)
GT_WRAPPING(-)
GT_WRAPPING(*)
#undef GT_WRAPPING
template <typename T>
inline Wrap<T> operator-(Wrap<T> a) {
  return Wrap<T>() - a;
}

#define GT_COMPARING(sign)                          \
  template <typename T>                             \
  inline bool operator sign(Wrap<T> a, Wrap<T> b) { \
    return a.value sign b.value;                    \
  }                                                 \
  template <typename T>                             \
  inline bool operator sign(Wrap<T> a, int b) {     \
    return a.value sign static_cast<T>(b);          \
  }
GT_COMPARING(==)
GT_COMPARING(!=)
GT_COMPARING(<)
GT_COMPARING(<=)
GT_COMPARING(>)
GT_COMPARING(>=)
#undef GT_COMPARING

// As in Python, the remainder has the divisor's sign. b must not be 0.
template <typename T>
inline Wrap<T> floor_mod(Wrap<T> a, Wrap<T> b) {
  // The least value has no negative.
  if (static_cast<int64_t>(b.value) == -1) return 0;
  const int64_t r = a.value % b.value;
  return r != 0 && (b.value < 0) != (r < 0) ? r + b.value : r;
}
template <typename T>
inline Wrap<T> floor_div(Wrap<T> a, Wrap<T> b) {
  if (static_cast<int64_t>(b.value) == -1) return -a;
  const int64_t q = a.value / b.value;
  const bool cut = a.value % b.value != 0;
  return cut && (a.value < 0) != (b.value < 0) ? q - 1 : q;
}

// Returns a to the power b, which must not be negative.
template <typename T>
inline Wrap<T> power(Wrap<T> a, Wrap<i64> b) {
  Wrap<T> out = 1;
  for (i64 left = b.value; left > 0; left >>= 1) {
    if ((left & 1) != 0) out = out * a;
    a = a * a;
  }
  return out;
}

}  // namespace gt
