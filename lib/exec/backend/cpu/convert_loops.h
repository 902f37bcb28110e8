// Converts runs of elements from any dtype to any other, as element.h does for
// one element. The loops are plain, so that the compiler makes packs of them;
// see pack.h for who may include this.
#pragma once

#include <utility>

#include "exec/backend/cpu/half_loops.h"
#include "exec/backend/cpu/loops.h"
#include "exec/backend/element.h"
#include "stream/type.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// The least and the largest integer of a type, the latter plus one, as floats,
// which all are exact.
template <typename I>
struct Bounds;
template <>
struct Bounds<int64_t> {
  static constexpr double kLow = -0x1p63, kHigh = 0x1p63;
  static constexpr int64_t kLargest = INT64_MAX;
};
template <>
struct Bounds<int32_t> {
  static constexpr double kLow = -0x1p31, kHigh = 0x1p31;
  static constexpr int32_t kLargest = INT32_MAX;
};
template <>
struct Bounds<uint8_t> {
  static constexpr double kLow = 0, kHigh = 0x1p8;
  static constexpr uint8_t kLargest = UINT8_MAX;
};

// Truncates and saturates; nan gives 0. What is converted is within bounds, so
// that no branch is needed.
template <typename I, typename F>
inline I saturated(F x) {
  using Of = Bounds<I>;
  using Wide = decltype(I{} + 0);  // there are no instructions for fewer bits
  constexpr F kLow = static_cast<F>(Of::kLow);
  constexpr F kHigh = static_cast<F>(Of::kHigh);
  const F above = x < kLow ? kLow : x;
  const F within = above < kHigh ? above : F{0};
  const Wide y = static_cast<Wide>(within);
  return static_cast<I>(x >= kHigh ? Wide{Of::kLargest} : y);
}

// Converts between dtypes that have a C++ type.
template <Dtype kFrom, Dtype kTo>
void convert_plain(const void* from, void* to, int64_t n) {
  using A = gt::ElementOf<kFrom>;
  using B = gt::ElementOf<kTo>;
  const auto* x = static_cast<const A*>(from);
  auto* y = static_cast<B*>(to);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kTo == Dtype::kBool) {
      y[i] = x[i] != 0 ? 1 : 0;
    } else if constexpr (is_float(kFrom) && is_integer(kTo)) {
      y[i] = saturated<B>(x[i]);
    } else {
      y[i] = static_cast<B>(x[i]);
    }
  }
}

// Writes floats that round to any shorter float as integers do: each is cut,
// and its last bit is set if anything was cut off (round to odd).
template <typename I>
void odd_floats(const I* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const auto exact = static_cast<double>(x[i]);
    const auto near = static_cast<float>(exact);
    const auto back = static_cast<double>(near);
    const bool grew = (back < 0 ? -back : back) > (exact < 0 ? -exact : exact);
    const uint32_t odd = (bits_of(near) - (grew ? 1 : 0)) | 1;
    y[i] = back == exact ? near : float_of(odd);
  }
}

template <Dtype kHalf>
void widen(const void* from, float* to, int64_t n) {
  kHalf == Dtype::kF16 ? f16_to_f32(from, to, n) : bf16_to_f32(from, to, n);
}
template <Dtype kHalf>
void narrow(const float* from, void* to, int64_t n) {
  kHalf == Dtype::kF16 ? f32_to_f16(from, to, n) : f32_to_bf16(from, to, n);
}

// Converts from or to a half type through f32, a part at a time.
template <Dtype kFrom, Dtype kTo>
void convert_half(const void* from, void* to, int64_t n) {
  constexpr int64_t kPart = 512;
  const auto* x = static_cast<const char*>(from);
  auto* y = static_cast<char*>(to);
  alignas(64) float part[kPart];
  for (int64_t i = 0; i < n; i += kPart) {
    const int64_t m = n - i < kPart ? n - i : kPart;
    const char* x_part = x + i * static_cast<int64_t>(size_of(kFrom));
    char* y_part = y + i * static_cast<int64_t>(size_of(kTo));
    if constexpr (is_half(kFrom)) {
      widen<kFrom>(x_part, part, m);
    } else if constexpr (kFrom == Dtype::kI64 || kFrom == Dtype::kI32) {
      using A = gt::ElementOf<kFrom>;
      odd_floats(reinterpret_cast<const A*>(x_part), part, m);
    } else {
      convert_plain<kFrom, Dtype::kF32>(x_part, part, m);
    }
    if constexpr (is_half(kTo)) {
      narrow<kTo>(part, y_part, m);
    } else {
      convert_plain<Dtype::kF32, kTo>(part, y_part, m);
    }
  }
}

// Rounds once from f64, which f32 on the way would not.
template <Dtype kTo>
void f64_to_half(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const double*>(from);
  for (int64_t i = 0; i < n; ++i) store_real(kTo, to, i, x[i]);
}

// Within 53 bits, the upper bits of an integer are all its sign, so that it
// does not differ there from itself shifted by one.
bool any_beyond_f64(const int64_t* x, int64_t n) {
  uint64_t differing = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = static_cast<uint64_t>(x[i]);
    differing |= bits ^ (bits << 1);
  }
  return differing >> 54 != 0;
}

template <size_t kPair>
constexpr Convert conversion() {
  constexpr auto kFrom = static_cast<Dtype>(kPair / kDtypes);
  constexpr auto kTo = static_cast<Dtype>(kPair % kDtypes);
  if constexpr (kFrom == kTo) {
    return nullptr;
  } else if constexpr (kFrom == Dtype::kF64 && is_half(kTo)) {
    return f64_to_half<kTo>;
  } else if constexpr (kFrom == Dtype::kF16 && kTo == Dtype::kF32) {
    return f16_to_f32;
  } else if constexpr (kFrom == Dtype::kBf16 && kTo == Dtype::kF32) {
    return bf16_to_f32;
  } else if constexpr (kFrom == Dtype::kF32 && kTo == Dtype::kF16) {
    return f32_to_f16;
  } else if constexpr (kFrom == Dtype::kF32 && kTo == Dtype::kBf16) {
    return f32_to_bf16;
  } else if constexpr (is_half(kFrom) || is_half(kTo)) {
    return convert_half<kFrom, kTo>;
  } else {
    return convert_plain<kFrom, kTo>;
  }
}

// The conversion from one dtype to another stands at from * kDtypes + to; null
// where the two are the same.
struct Conversions {
  Convert at[kDtypes * kDtypes];
};
template <size_t... kPair>
constexpr Conversions all_conversions(std::index_sequence<kPair...>) {
  return {{conversion<kPair>()...}};
}
constexpr Conversions kConversions =
    all_conversions(std::make_index_sequence<kDtypes * kDtypes>());

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
