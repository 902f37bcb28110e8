#include "exec/backend/cpu/convert.h"

#include <array>
#include <type_traits>
#include <utility>

#include "exec/backend/element.h"

namespace gt::exec::cpu {
namespace {

// Converts with element.h, for pairs of dtypes that no common loop is made of.
template <Dtype kFrom, Dtype kTo>
void convert_each(const void* from, void* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (is_float(kFrom)) {
      store_real(kTo, to, i, load_real(kFrom, from, i));
    } else {
      store_int(kTo, to, i, load_int(kFrom, from, i));
    }
  }
}

template <Dtype kFrom, Dtype kTo>
void convert(const void* from, void* to, int64_t n) {
  using A = ElementOf<kFrom>;
  using B = ElementOf<kTo>;
  if constexpr (!std::is_arithmetic_v<A> || !std::is_arithmetic_v<B> ||
                (is_float(kFrom) && is_integer(kTo))) {
    convert_each<kFrom, kTo>(from, to, n);
  } else {
    const auto* x = static_cast<const A*>(from);
    auto* y = static_cast<B*>(to);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kTo == Dtype::kBool) {
        y[i] = x[i] != 0 ? 1 : 0;
      } else {
        y[i] = static_cast<B>(x[i]);
      }
    }
  }
}

template <size_t kPair>
constexpr Convert one_pair() {
  constexpr auto kFrom = static_cast<Dtype>(kPair / kDtypes);
  constexpr auto kTo = static_cast<Dtype>(kPair % kDtypes);
  return kFrom == kTo ? nullptr : convert<kFrom, kTo>;
}

template <size_t... kPair>
constexpr auto all_pairs(std::index_sequence<kPair...>) {
  return std::array<Convert, sizeof...(kPair)>{one_pair<kPair>()...};
}

}  // namespace

Convert converter(Dtype from, Dtype to, const Loops& loops) {
  static constexpr auto kAll =
      all_pairs(std::make_index_sequence<kDtypes * kDtypes>());
  using D = Dtype;
  if (from == D::kF16 && to == D::kF32) return loops.f16_to_f32;
  if (from == D::kF32 && to == D::kF16) return loops.f32_to_f16;
  if (from == D::kBf16 && to == D::kF32) return loops.bf16_to_f32;
  if (from == D::kF32 && to == D::kBf16) return loops.f32_to_bf16;
  return kAll[static_cast<size_t>(from) * kDtypes + static_cast<size_t>(to)];
}

Converted::Converted(const Type& type, Dtype to, const Loops& loops)
    : n_(type.elements()), convert_(converter(type.dtype, to, loops)) {
  if (convert_ != nullptr) data_.resize(Type{to, type.shape}.bytes());
}

const void* Converted::get(const void* data) {
  if (convert_ == nullptr) return data;
  convert_(data, data_.data(), n_);
  return data_.data();
}

Returned::Returned(const Type& type, Dtype from, const Loops& loops)
    : n_(type.elements()), convert_(converter(from, type.dtype, loops)) {
  if (convert_ != nullptr) data_.resize(Type{from, type.shape}.bytes());
}

void* Returned::place(void* data) {
  return convert_ == nullptr ? data : data_.data();
}

void Returned::store(void* data) const {
  if (convert_ != nullptr) convert_(data_.data(), data, n_);
}

}  // namespace gt::exec::cpu
