// Tensor::to_vector() and Tensor::item(), which return a tensor's elements as
// C++ numbers.
#pragma once

#include <cinttypes>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <gt/tensor.h>

namespace gt::inline v1 {

namespace detail {

// Converts a bf16, or else an f16, to float.
inline float float_from_half(uint16_t bits, bool is_bf16) {
  uint32_t out = uint32_t{bits} << 16;
  if (!is_bf16) {
    const uint32_t sign = uint32_t{bits} >> 15 << 31;
    const uint32_t exponent = bits >> 10 & 31;
    const uint32_t fraction = bits & 1023;
    if (exponent == 0) {  // zero, or below the smallest normal number
      const float value = static_cast<float>(fraction) * 0x1p-24F;
      return sign != 0 ? -value : value;
    }
    const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
    out = sign | wide << 23 | fraction << 13;
  }
  float value = 0;
  std::memcpy(&value, &out, sizeof value);
  return value;
}

// True if T holds the value; if T is an integer type, without its fraction.
template <typename T, typename From>
constexpr bool holds(From value) {
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) {
    return true;
  } else if constexpr (std::is_integral_v<From>) {
    const int64_t wide = value;
    return (std::is_signed_v<T> || wide >= 0) &&
           static_cast<int64_t>(static_cast<T>(wide)) == wide;
  } else {
    // Both bounds are powers of two, which floats represent exactly. NaN is
    // within no bounds.
    constexpr int kBits = static_cast<int>(sizeof(T)) * 8 - 1;
    constexpr double kHalf = static_cast<double>(uint64_t{1} << (kBits - 1));
    constexpr double kEnd = std::is_signed_v<T> ? 2 * kHalf : 4 * kHalf;
    const double whole = __builtin_trunc(static_cast<double>(value));
    return whole >= (std::is_signed_v<T> ? -kEnd : 0.0) && whole < kEnd;
  }
}

// Converts an element of a tensor of this type to T. Error: T does not hold it.
template <typename T, typename From>
T converted(From value, const Type& type, At at) {
  if (holds<T>(value)) return static_cast<T>(value);
  const char* const sign = std::is_signed_v<T> ? "" : "u";
  const int bits = static_cast<int>(sizeof(T)) * 8;
  if constexpr (std::is_integral_v<From>) {
    gt_set_error(GT_WRONG, "%" PRId64 ", a value of %s, is no %sint%d_t",
                 static_cast<int64_t>(value), type.text().c_str(), sign, bits);
  } else {
    gt_set_error(GT_WRONG, "%.17g, a value of %s, is no %sint%d_t",
                 static_cast<double>(value), type.text().c_str(), sign, bits);
  }
  fail(at);
}

template <typename From, typename T>
void convert(const std::vector<char>& bytes, std::vector<T>& out,
             const Type& type, At at) {
  for (size_t i = 0; i < out.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    out[i] = converted<T>(value, type, at);
  }
}

}  // namespace detail

template <typename T>
std::vector<T> Tensor::to_vector(At at) const {
  const Type held_type = type(at);
  std::vector<T> out(static_cast<size_t>(held_type.elements()));
  if constexpr (!std::is_same_v<T, bool>) {
    constexpr bool kHasDtype =
        std::is_arithmetic_v<T> && (std::is_signed_v<T> || sizeof(T) == 1);
    if (kHasDtype && dtype_of<T>() == held_type.dtype) {
      copy_to(out.data(), at);
      return out;
    }
  }
  std::vector<char> bytes(out.size() * held_type.dtype.bytes());
  copy_to(bytes.data(), at);
  switch (held_type.dtype.raw()) {
    case GT_F32:
      detail::convert<float>(bytes, out, held_type, at);
      break;
    case GT_F64:
      detail::convert<double>(bytes, out, held_type, at);
      break;
    case GT_I64:
      detail::convert<int64_t>(bytes, out, held_type, at);
      break;
    case GT_I32:
      detail::convert<int32_t>(bytes, out, held_type, at);
      break;
    case GT_U8:
    case GT_BOOL:
      detail::convert<uint8_t>(bytes, out, held_type, at);
      break;
    default: {
      std::vector<uint16_t> halves(out.size());
      detail::convert<uint16_t>(bytes, halves, held_type, at);
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = detail::converted<T>(
            detail::float_from_half(halves[i], held_type.dtype == bf16),
            held_type, at);
      }
    }
  }
  return out;
}

template <typename T>
T Tensor::item(At at) const {
  const Type held_type = type(at);
  if (held_type.elements() != 1) {
    gt_set_error(GT_WRONG, "item: %s has %" PRId64 " elements, not one",
                 held_type.text().c_str(), held_type.elements());
    detail::fail(at);
  }
  return to_vector<T>(at)[0];
}

}  // namespace gt::inline v1
