// What all kernels share: their arguments, the dtypes of the language, and the
// conversions between dtypes, which give the same bits as
// lib/exec/backend/element.h.
#pragma once

// The compilers of kernels have no <cstdint>.
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

namespace gt {
constexpr int kThreads = 256;  // threads of a block
}

#include "entries.cuh"
#include "target.cuh"

namespace gt {

// The arguments of a launch. Each kernel's comment says which entries it reads;
// some entries have names (entries.cuh). An entry of `in` is an address or, for
// a number of the line, the number's 8 bytes.
struct Args {
  uint64_t in[8];
  uint64_t out[4];
  // The least position that met wrong data; all ones if there is none.
  uint64_t* fault;
  volatile uint64_t* told;  // for tell() of fault.cuh
  // Where a kernel writes `task` when it begins; may be null.
  volatile uint64_t* begun;
  uint64_t task;  // the task that the launch belongs to
  // In a recording: two numbers to add to `task` and to `told`. Else null.
  const uint64_t* base;
  int64_t n[72];  // sizes, strides and the like
};

// The arguments of one of the runs that a kernel does at once: its memory and
// its number of elements. Args holds what all runs have in common.
struct Item {
  uint64_t in[4];
  uint64_t out[3];
  int64_t n;
  volatile uint64_t* told;  // as in Args
};
struct Items {
  int64_t count;
  int64_t blocks;  // blocks that divide the elements of all items
  Item item[46];
};

// The dtypes, by their names in the language, except that bool is called
// `boolean`.
typedef float f32;
typedef double f64;
typedef int64_t i64;
typedef int32_t i32;
typedef uint8_t u8;
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
struct boolean {
  uint8_t value;
};

template <typename T>
constexpr bool kIsFloat = false;
template <>
inline constexpr bool kIsFloat<f32> = true;
template <>
inline constexpr bool kIsFloat<f64> = true;
template <>
inline constexpr bool kIsFloat<f16> = true;
template <>
inline constexpr bool kIsFloat<bf16> = true;

template <typename A, typename B>
constexpr bool kSame = false;
template <typename A>
inline constexpr bool kSame<A, A> = true;

// ---- mathematics: one name for both float types -----------------------------

#define GT_FUNCTION(name)                         \
  inline f32 name(f32 x) { return ::name##f(x); } \
  inline f64 name(f64 x) { return ::name(x); }
GT_FUNCTION(exp)
GT_FUNCTION(log)
GT_FUNCTION(expm1)
GT_FUNCTION(log1p)
GT_FUNCTION(sin)
GT_FUNCTION(cos)
GT_FUNCTION(sinh)
GT_FUNCTION(cosh)
GT_FUNCTION(atan)
GT_FUNCTION(tanh)
GT_FUNCTION(erf)
GT_FUNCTION(erfc)
#undef GT_FUNCTION
inline f32 pow(f32 x, f32 y) { return ::powf(x, y); }
inline f64 pow(f64 x, f64 y) { return ::pow(x, y); }
inline f32 atan2(f32 x, f32 y) { return ::atan2f(x, y); }
inline f64 atan2(f64 x, f64 y) { return ::atan2(x, y); }
inline f32 hypot(f32 x, f32 y) { return ::hypotf(x, y); }
inline f64 hypot(f64 x, f64 y) { return ::hypot(x, y); }
inline f32 fma(f32 x, f32 y, f32 z) { return ::fmaf(x, y, z); }
inline f64 fma(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }
inline f32 root(f32 x) { return ::sqrtf(x); }
inline f64 root(f64 x) { return ::sqrt(x); }
inline f32 round_down(f32 x) { return ::floorf(x); }
inline f64 round_down(f64 x) { return ::floor(x); }
inline f32 round_even(f32 x) { return ::rintf(x); }
inline f64 round_even(f64 x) { return ::rint(x); }
inline f32 remainder_of(f32 x, f32 y) { return ::fmodf(x, y); }
inline f64 remainder_of(f64 x, f64 y) { return ::fmod(x, y); }
inline f32 with_sign(f32 x, f32 y) { return ::copysignf(x, y); }
inline f64 with_sign(f64 x, f64 y) { return ::copysign(x, y); }
// Returns the greater of two numbers; nan only if both are nan.
inline f32 number_max(f32 x, f32 y) { return ::fmaxf(x, y); }
inline f64 number_max(f64 x, f64 y) { return ::fmax(x, y); }

template <typename V>
inline V number(f64 x) {
  return static_cast<V>(x);
}

// ---- bits -------------------------------------------------------------------

template <typename To, typename From>
inline To bits_as(From x) {
  return __builtin_bit_cast(To, x);
}

// Halves are rounded to nearest, ties to even, as the target does it. A nan is
// converted here, since the target may map every nan to one.
inline f32 f32_of(f16 x) {
  const uint32_t bits = x.bits;
  if ((bits & 0x7c00) == 0x7c00) {  // nan or infinity
    return bits_as<f32>((bits & 0x8000) << 16 | 0x7f800000 |
                        (bits & 0x3ff) << 13);
  }
  return float_of_half(x.bits);
}
inline f32 f32_of(bf16 x) {
  return bits_as<f32>(static_cast<uint32_t>(x.bits) << 16);
}
inline f16 f16_of(f32 value) {
  if (value != value) {
    const uint32_t sign = bits_as<uint32_t>(value) >> 16 & 0x8000;
    return {static_cast<uint16_t>(sign | 0x7e00)};
  }
  return {half_of_float(value)};
}
inline bf16 bf16_of(f32 value) {
  if (value != value) {
    return {static_cast<uint16_t>(bits_as<uint32_t>(value) >> 16 | 0x40)};
  }
  return {brain_of_float(value)};
}

// Returns a float that rounds to any shorter float as `value` does (round to
// odd).
inline f32 odd_float(f64 value) {
  const auto near = static_cast<f32>(value);
  if (static_cast<f64>(near) == value || value != value) return near;
  uint32_t bits = bits_as<uint32_t>(near);
  const f64 distance = static_cast<f64>(near);
  if ((distance < 0 ? -distance : distance) > (value < 0 ? -value : value)) {
    --bits;
  }
  return bits_as<f32>(bits | 1);
}

// ---- conversions ------------------------------------------------------------

// Returns a value as arithmetic takes it: f16 and bf16 as f32, integers and
// bool as i64, f32 and f64 unchanged. Nothing is lost.
inline f32 widen(f32 x) { return x; }
inline f64 widen(f64 x) { return x; }
inline f32 widen(f16 x) { return f32_of(x); }
inline f32 widen(bf16 x) { return f32_of(x); }
inline i64 widen(i64 x) { return x; }
inline i64 widen(i32 x) { return x; }
inline i64 widen(u8 x) { return x; }
inline i64 widen(boolean x) { return x.value; }

template <typename T>
using Wide = decltype(widen(T{}));

template <typename T>
inline T saturated(f64 x, f64 low, f64 high, T least, T most) {
  if (x != x) return 0;
  return x <= low ? least : x >= high ? most : static_cast<T>(x);
}

// to<T>(x) returns x, a result of widen(), rounded once to T. Floats become
// integers by truncation and saturate, and nan gives 0; integers wrap; a
// boolean is 1 if x is not 0.
template <typename T>
struct To;
template <>
struct To<f32> {
  static f32 from(f32 x) { return x; }
  static f32 from(f64 x) { return static_cast<f32>(x); }
  static f32 from(i64 x) { return static_cast<f32>(x); }
};
template <>
struct To<f64> {
  static f64 from(f32 x) { return x; }
  static f64 from(f64 x) { return x; }
  static f64 from(i64 x) { return static_cast<f64>(x); }
};
template <>
struct To<f16> {
  static f16 from(f32 x) { return f16_of(x); }
  static f16 from(f64 x) { return f16_of(odd_float(x)); }
  static f16 from(i64 x) { return from(static_cast<f64>(x)); }
};
template <>
struct To<bf16> {
  static bf16 from(f32 x) { return bf16_of(x); }
  static bf16 from(f64 x) { return bf16_of(odd_float(x)); }
  static bf16 from(i64 x) { return from(static_cast<f64>(x)); }
};
template <>
struct To<i64> {
  static i64 from(f64 x) {
    return saturated<i64>(x, -9223372036854775808.0, 9223372036854775808.0,
                          -9223372036854775807 - 1, 9223372036854775807);
  }
  static i64 from(f32 x) { return from(static_cast<f64>(x)); }
  static i64 from(i64 x) { return x; }
};
template <>
struct To<i32> {
  static i32 from(f64 x) {
    return saturated<i32>(x, -2147483648.0, 2147483648.0, -2147483647 - 1,
                          2147483647);
  }
  static i32 from(f32 x) { return from(static_cast<f64>(x)); }
  static i32 from(i64 x) { return static_cast<i32>(x); }
};
template <>
struct To<u8> {
  static u8 from(f64 x) { return saturated<u8>(x, 0, 256.0, 0, 255); }
  static u8 from(f32 x) { return from(static_cast<f64>(x)); }
  static u8 from(i64 x) { return static_cast<u8>(x); }
};
template <>
struct To<boolean> {
  template <typename V>
  static boolean from(V x) {
    return {static_cast<uint8_t>(x != 0 ? 1 : 0)};
  }
};
template <typename T, typename V>
inline T to(V x) {
  return To<T>::from(x);
}

// ---- operands ---------------------------------------------------------------

template <typename T>
inline const T* in(const Args& a, int k) {
  return reinterpret_cast<const T*>(a.in[k]);
}
template <typename T>
inline T* out(const Args& a, int k) {
  return reinterpret_cast<T*>(a.out[k]);
}

// The sources of an operand's elements: memory (In), or a number of the line
// (Literal).
template <typename T>
struct In {
  using type = T;
  static T at(const Args& a, int k, int64_t i) { return in<T>(a, k)[i]; }
};
template <typename T>
struct Literal {
  using type = T;
  static T at(const Args& a, int k, int64_t /*i*/) {
    return bits_as<T>(a.in[k]);
  }
};
template <>
struct Literal<boolean> {
  using type = boolean;
  static boolean at(const Args& a, int k, int64_t /*i*/) {
    return {static_cast<uint8_t>(a.in[k] != 0)};
  }
};
struct None {};  // an operand that is absent

// Neighbouring elements, which a thread loads and stores together, 16 bytes
// each time.
template <typename T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Several {
  T x[kCount];
};
// The number of elements in 16 bytes, the most that a thread loads at once.
template <typename T>
inline constexpr int kPackOf = static_cast<int>(16 / sizeof(T));
template <typename T>
using Pack = Several<T, kPackOf<T>>;

// Returns the first kCount of the `left` elements that are `step` apart from x
// on; elements beyond `left` are `other`. With kWhole, either all kCount
// elements are there, contiguous and aligned for one load, or none is.
template <bool kWhole, int kCount, typename T>
inline Several<T, kCount> load_pack(const T* x, int64_t step, int64_t left,
                                    T other) {
  Several<T, kCount> pack;
  if (kWhole && left > 0) {
    return *reinterpret_cast<const Several<T, kCount>*>(x);
  }
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    pack.x[j] = !kWhole && j < left ? x[j * step] : other;
  }
  return pack;
}
// Stores the first `left` elements of a pack `step` apart from x on. With
// kWhole, either all are there, contiguous and aligned for one store, or none
// is.
template <bool kWhole, int kCount, typename T>
inline void store_pack(T* x, int64_t step, int64_t left,
                       const Several<T, kCount>& pack) {
  if constexpr (kWhole) {
    if (left > 0) store_16(x, pack);
  } else {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (j < left) x[j * step] = pack.x[j];
    }
  }
}
// True if packs that begin at these addresses, joined by "or", may be loaded at
// once.
inline bool is_even(uint64_t addresses) { return (addresses & 15) == 0; }

// Calls use() with `whole` as a constant.
template <bool kValue>
struct Constant {
  static constexpr bool value = kValue;
};
template <typename Use>
inline void with_constant(bool whole, const Use& use) {
  if (whole) {
    use(Constant<true>());
  } else {
    use(Constant<false>());
  }
}

// Reports that the kernel has begun; every kernel does this first.
inline void has_begun(const Args& a) {
  GT_EACH(i, 1) {
    if (a.begun != nullptr) {
      *a.begun = a.task + (a.base == nullptr ? 0 : a.base[0]);
    }
  }
}

// Reports wrong data at a position. The host tells what is wrong at the least
// one.
inline void fault(const Args& a, int64_t position) {
  keep_least(a.fault, static_cast<uint64_t>(position));
}

// Returns the offset, in elements, of position i of a shape in row-major order.
// n[0] is the number of dimensions, followed by their sizes, and then by their
// strides.
inline int64_t place(const int64_t* n, int64_t i) {
  const int64_t rank = n[0];
  int64_t at = 0;
  for (int64_t d = rank; d > 1; --d) {
    at += i % n[d] * n[rank + d];
    i /= n[d];
  }
  return rank > 0 ? at + i * n[rank + 1] : at;
}
// Returns the number of entries of Args::n that such a place takes.
inline int64_t place_size(const int64_t* n) { return 1 + 2 * n[0]; }

// Returns where line l begins in a tensor that is taken as lines along an axis.
inline int64_t line_begin(const Args& a, int64_t l) {
  const int64_t step = a.n[entry::kLineStep];
  return l / step * step * a.n[entry::kLineSize] + l % step;
}

// ---- functions that formulas call -------------------------------------------

// These return a nan if an operand is one: the left one if both are.
template <typename V>
inline V greater(V a, V b) {
  return a > b || a != a ? a : b;
}
template <typename V>
inline V lesser(V a, V b) {
  return a < b || a != a ? a : b;
}
template <typename V>
inline V sign(V a) {
  return a > 0 ? V(1) : a < 0 ? V(-1) : V(0);
}

}  // namespace gt
