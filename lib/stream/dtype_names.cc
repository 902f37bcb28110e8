#include "stream/dtype_names.h"

#include <array>
#include <utility>

namespace gt {

std::optional<Dtype> dtype_elsewhere(std::string_view word) {
  using Row = std::pair<std::string_view, Dtype>;
  constexpr auto kRows = std::to_array<Row>({
      {"float32", Dtype::kF32},   {"float", Dtype::kF32},
      {"single", Dtype::kF32},    {"fp32", Dtype::kF32},
      {"float64", Dtype::kF64},   {"double", Dtype::kF64},
      {"fp64", Dtype::kF64},      {"float16", Dtype::kF16},
      {"half", Dtype::kF16},      {"fp16", Dtype::kF16},
      {"bfloat16", Dtype::kBf16}, {"int64", Dtype::kI64},
      {"long", Dtype::kI64},      {"int", Dtype::kI64},
      {"int32", Dtype::kI32},     {"uint8", Dtype::kU8},
      {"byte", Dtype::kU8},       {"bool_", Dtype::kBool},
      {"boolean", Dtype::kBool},
  });
  for (const std::string_view library : {"torch.", "np.", "numpy.", "jnp."}) {
    if (!word.starts_with(library)) continue;
    word.remove_prefix(library.size());
    if (const auto own = parse_dtype(word)) return own;
  }
  for (const auto& [name, dtype] : kRows) {
    if (name == word) return dtype;
  }
  return std::nullopt;
}

}  // namespace gt
