// What each key means, once for all ops.
#include <array>

#include "ops/table.h"

namespace gt {
namespace {

using Kind = KeyRow::Kind;

constexpr auto kKeys = std::to_array<KeyRow>({
    {"approximate", Kind::kWord, "none tanh", "formula of gelu"},
    {"as", Kind::kText, "", "name to print under"},
    {"axes", Kind::kIntegers, "", "order of the dimensions"},
    {"axis", Kind::kIntegers, "", "dimensions, negative from the end"},
    {"beta1", Kind::kNumber, "", "decay of the first moment"},
    {"beta2", Kind::kNumber, "", "decay of the second moment"},
    {"correction", Kind::kInteger, "", "var divides by n - correction"},
    {"decay", Kind::kNumber, "", "decoupled weight decay"},
    {"descending", Kind::kFlag, "", "largest first"},
    {"eps", Kind::kNumber, "", "added below a division"},
    {"keepdims", Kind::kFlag, "", "keep reduced dimensions, of size 1"},
    {"momentum", Kind::kNumber, "", "decay of the velocity"},
    {"ord", Kind::kNumber, "", "order of the norm"},
    {"reduction", Kind::kWord, "mean sum none", "what becomes of the losses"},
    {"retain", Kind::kFlag, "", "keep the history after grad"},
    {"rows", Kind::kInteger, "", "rows of the table"},
    {"scale", Kind::kNumber, "", "factor"},
    {"shape", Kind::kIntegers, "", "sizes; one -1 is worked out"},
    {"size", Kind::kInteger, "", "length of the piece"},
    {"sizes", Kind::kIntegers, "", "length of each piece"},
    {"step", Kind::kNumber, "", "distance of neighbours"},
    {"ta", Kind::kFlag, "", "transpose the first operand's last two"},
    {"tb", Kind::kFlag, "", "transpose the second operand's last two"},
    {"value", Kind::kNumber, "", "fill value"},
    {"width", Kind::kIntegers, "", "before and after each dimension"},
});

}  // namespace

const KeyRow* find_key(std::string_view name) {
  for (const KeyRow& row : kKeys) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

std::span<const KeyRow> all_keys() { return kKeys; }

}  // namespace gt
