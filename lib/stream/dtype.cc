#include "stream/dtype.h"

#include <bit>
#include <cmath>

#include "base/text.h"

namespace gt {

F16 F16::from(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (all >> 16) & 0x8000;
  const uint32_t magnitude = all & 0x7fffffff;
  const auto with = [sign](uint32_t rest) {
    return F16{static_cast<uint16_t>(sign | rest)};
  };
  if (magnitude > 0x7f800000) return with(0x7e00);   // nan
  if (magnitude >= 0x477ff000) return with(0x7c00);  // rounds to inf
  if (magnitude < 0x38800000) {                      // subnormal or zero
    // Adding 0.5 aligns the significand to f16's smallest step, 2^-24.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return with(std::bit_cast<uint32_t>(aligned) - 0x3f000000);
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return with((rounded - 0x38000000) >> 13);
}

F16::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f) {
    return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) |
                              (fraction << 13));
}

Bf16 Bf16::from(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return {static_cast<uint16_t>((all >> 16) | 0x40)};
  return {static_cast<uint16_t>((all + 0x7fff + ((all >> 16) & 1)) >> 16)};
}

Bf16::operator float() const {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

std::optional<Dtype> dtype_named(std::string_view DtypeTraits::*column,
                                 std::string_view name) {
  for (size_t i = 0; i < kDtypes; ++i) {
    if (kDtypeTraits[i].*column == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

std::optional<Dtype> dtype_elsewhere(std::string_view word) {
  for (const std::string_view library : {"torch.", "np.", "numpy.", "jnp."}) {
    if (!word.starts_with(library)) continue;
    word.remove_prefix(library.size());
    if (const auto own = parse_dtype(word)) return own;
  }
  for (size_t i = 0; i < kDtypes; ++i) {
    if (has_word(kDtypeTraits[i].elsewhere, word)) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

}  // namespace gt
