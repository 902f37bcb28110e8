// The dtypes of tensors' elements, and what is known of each; dtypes.def has
// their rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace gt {

// The 16-bit floats: f16 (IEEE 754 binary16) and bf16 (the upper half of
// binary32). A float is rounded to nearest even; nan stays nan.
struct F16 {
  uint16_t bits;
  static F16 from(float value);
  explicit operator float() const;
  explicit operator double() const {
    return static_cast<double>(static_cast<float>(*this));
  }
};
struct Bf16 {
  uint16_t bits;
  static Bf16 from(float value);
  explicit operator float() const;
  explicit operator double() const {
    return static_cast<double>(static_cast<float>(*this));
  }
};

#define GT_DTYPE(word, ...) k##word,
enum class Dtype : uint8_t {
#include "stream/dtypes.def"
};
#undef GT_DTYPE

// The C++ type of a dtype's elements in memory; uint8_t for bool.
template <Dtype>
struct Element;
#define GT_DTYPE(word, element, ...) \
  template <>                        \
  struct Element<Dtype::k##word> {   \
    using type = element;            \
  };
#include "stream/dtypes.def"
#undef GT_DTYPE
template <Dtype d>
using ElementOf = typename Element<d>::type;

// A row of dtypes.def, which says what the columns mean.
struct DtypeTraits {
  // In the order in which a kind gives way to another (promote() in
  // ops/call.h).
  enum class Kind : uint8_t { kBool, kInteger, kFloat };

  std::string_view name;
  size_t size;  // bytes of one element
  Kind kind;
  int digits;
  Dtype computed;
  std::string_view npy, safetensors, elsewhere;
};
#define GT_DTYPE(word, element, name, kind, digits, computed, ...) \
  DtypeTraits{name,   sizeof(element),    DtypeTraits::Kind::kind, \
              digits, Dtype::k##computed, __VA_ARGS__},
inline constexpr auto kDtypeTraits = std::to_array<DtypeTraits>({
#include "stream/dtypes.def"
});
#undef GT_DTYPE
inline constexpr size_t kDtypes = kDtypeTraits.size();

constexpr const DtypeTraits& traits(Dtype d) {
  return kDtypeTraits[static_cast<size_t>(d)];
}
constexpr std::string_view to_string(Dtype d) { return traits(d).name; }
constexpr size_t size_of(Dtype d) { return traits(d).size; }
constexpr bool is_float(Dtype d) {
  return traits(d).kind == DtypeTraits::Kind::kFloat;
}
constexpr bool is_integer(Dtype d) {
  return traits(d).kind == DtypeTraits::Kind::kInteger;
}
// True for f16 and bf16, whose arithmetic is done in a longer dtype.
constexpr bool is_half(Dtype d) { return traits(d).computed != d; }

// The range of an integer dtype or of bool.
constexpr int64_t greatest_of(Dtype d) {
  return static_cast<int64_t>((uint64_t{1} << traits(d).digits) - 1);
}
constexpr int64_t least_of(Dtype d) {
  const bool has_sign = traits(d).digits % 8 == 7;
  return has_sign ? -greatest_of(d) - 1 : 0;
}
constexpr bool holds(Dtype d, int64_t value) {
  return value >= least_of(d) && value <= greatest_of(d);
}

// Returns the dtype that a column names so; nothing if there is none.
std::optional<Dtype> dtype_named(std::string_view DtypeTraits::*column,
                                 std::string_view name);
inline std::optional<Dtype> parse_dtype(std::string_view word) {
  return dtype_named(&DtypeTraits::name, word);
}
// Returns the dtype that "float32", "torch.float32", "np.float32", "long" and
// so on stand for, which are not words of the language; messages suggest gt's
// name. Returns nothing for any other word, gt's own "f32" included.
std::optional<Dtype> dtype_elsewhere(std::string_view word);

// Returns what visit.operator()<ElementOf<d>>() returns.
template <typename Visit>
constexpr decltype(auto) with_element(Dtype d, const Visit& visit) {
#define GT_DTYPE(word, ...) \
  case Dtype::k##word:      \
    return visit.template operator()<ElementOf<Dtype::k##word>>();
  switch (d) {
#include "stream/dtypes.def"
  }
#undef GT_DTYPE
  __builtin_unreachable();
}

}  // namespace gt
