// Point-wise ops over broadcast operands, computed by a formula of
// lib/exec/backend/formulas.def.
#pragma once

#include "common.cuh"
#include "integer.cuh"
#include "philox.cuh"

namespace gt {

// As in Python, the remainder has the divisor's sign.
template <typename V>
inline V floor_mod(V a, V b) {
  const V r = remainder_of(a, b);
  return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}
template <typename V>
inline V floor_div(V a, V b) {
  if (b == 0) return a / b;
  const V r = remainder_of(a, b);
  V q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return with_sign(V{0}, a / b);
  const V f = round_down(q);
  return q - f > V(0.5) ? f + 1 : f;
}

#define GT_FORMULA_EXCESS
#include "formulas.def"
#define GT_FORMULA_FUNCTIONS
#include "formulas.def"

// As<D>::of(x) converts an operand's element for a formula: a float is rounded
// to D once, an integer wraps to D, and a bool becomes 0 or 1.
template <typename D>
struct As {
  template <typename T>
  static auto of(T x) {
    if constexpr (kIsFloat<T>) {
      return widen(to<D>(widen(x)));
    } else {
      return widen(to<D>(static_cast<f64>(widen(x))));
    }
  }
};
template <typename D>
struct AsInteger {
  template <typename T>
  static Wrap<D> of(T x) {
    return to<i64>(widen(x));
  }
};
template <>
struct As<i64> : AsInteger<i64> {};
template <>
struct As<i32> : AsInteger<i32> {};
template <>
struct As<u8> : AsInteger<u8> {};
template <>
struct As<boolean> {
  template <typename T>
  static int of(T x) {
    return widen(x) != 0 ? 1 : 0;
  }
};

// An operand: the source of its elements, and the dtype that they are converted
// to.
template <typename Source, typename D>
struct Operand {
  static auto at(const Args& a, int k, int64_t i) {
    return As<D>::of(Source::at(a, k, i));
  }
};

template <typename R>
inline R result(f32 x) {
  return to<R>(x);
}
template <typename R>
inline R result(f64 x) {
  return to<R>(x);
}
template <typename R>
inline R result(int x) {  // bool
  return to<R>(static_cast<i64>(x));
}
template <typename R>
inline R result(bool x) {
  return to<R>(static_cast<i64>(x));
}
template <typename R, typename T>
inline R result(Wrap<T> x) {
  return to<R>(static_cast<i64>(x.value));
}

// The places of the elements of kCount operands for element i of the result.
// Args::n: the number of elements, the sizes of kRank dimensions, and the
// strides of each operand over them. Index is an unsigned type that holds i.
template <typename Index, int kRank, int kCount>
class Places {
 public:
  Places(const Args& a, int64_t i) {
    auto rest = static_cast<Index>(i);
    for (int d = kRank - 1; d >= 0; --d) {
      const auto size = static_cast<Index>(a.n[1 + d]);
      const Index index = d > 0 ? rest % size : rest;
      if (d > 0) rest /= size;
      for (int k = 0; k < kCount; ++k) {
        at_[k] += static_cast<int64_t>(index) * a.n[1 + (k + 1) * kRank + d];
      }
    }
  }
  int64_t operator[](int k) const { return at_[k]; }

 private:
  int64_t at_[kCount] = {};
};

// These load operand k, or store result k, from element i on.
template <typename T, int kCount>
inline Several<T, kCount> load_several(const Args& a, int k, int64_t i) {
  return *reinterpret_cast<const Several<T, kCount>*>(in<T>(a, k) + i);
}
template <typename T, int kCount>
inline void store_several(const Args& a, int k, int64_t i,
                          const Several<T, kCount>& y) {
  *reinterpret_cast<Several<T, kCount>*>(out<T>(a, k) + i) = y;
}

// Returns element g of rand.
template <typename R, int kDigits, typename Seed>
inline R uniform(Seed seed, int64_t g) {
  const auto key = static_cast<uint64_t>(to<i64>(widen(seed)));
  return to<R>(
      philox::uniform(philox::word(key, static_cast<uint64_t>(g)), kDigits));
}

}  // namespace gt
