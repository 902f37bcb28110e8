// What each key means, once for all ops.
#include <array>

#include "ops/table.h"

namespace gt {
namespace {

using KeyKind = KeyRow::Kind;

#define GT_DTYPE(word, element, name, ...) " " name
constexpr char kDtypesAfterBlanks[] =
#include "stream/dtypes.def"
    ;
#undef GT_DTYPE
constexpr const char* kDtypeNames = kDtypesAfterBlanks + 1;

constexpr auto kKeys = std::to_array<KeyRow>({
    {"acc", KeyKind::kWord, kDtypeNames, "dtype that a sum is taken in"},
    {"approximate", KeyKind::kWord, "none tanh", "formula of gelu"},
    {"as", KeyKind::kText, "", "name to print under"},
    {"axes", KeyKind::kText, "",
     "order of the dimensions; of remesh, the axes; PyTorch's dims"},
    {"axis", KeyKind::kIntegers, "",
     "dimensions, negative from the end; PyTorch's dim, dims"},
    {"base", KeyKind::kNumber, "", "of the wave lengths"},
    {"beta", KeyKind::kNumber, "", "steepness"},
    {"beta1", KeyKind::kNumber, "", "decay of the first moment"},
    {"beta2", KeyKind::kNumber, "", "decay of the second moment"},
    {"bwd", KeyKind::kWord, "f32 f64 f16 bf16",
     "dtype that the gradient's sum is taken in"},
    {"causal", KeyKind::kFlag, "",
     "row i sees columns up to i alone; PyTorch's is_causal"},
    {"concat_dim", KeyKind::kInteger, "", "where slices are stacked"},
    {"count_include_pad", KeyKind::kFlag, "", "the margin counts in a mean"},
    {"correction", KeyKind::kNumber, "",
     "var divides by n - correction; PyTorch's unbiased, NumPy's ddof"},
    {"decay", KeyKind::kNumber, "",
     "decoupled weight decay; PyTorch's weight_decay"},
    {"delta", KeyKind::kNumber, "", "difference from which a loss is linear"},
    {"descending", KeyKind::kFlag, "", "largest first"},
    {"dilation", KeyKind::kIntegers, "", "distance of a window's elements"},
    {"divisor", KeyKind::kInteger, "", "what a sum is divided by"},
    {"dst", KeyKind::kText, "",
     "what the result is on the axis: R I V P S0 S1 ..."},
    {"dst_spec", KeyKind::kText, "",
     "axes that cut each dimension of the result: dp+tp,-"},
    {"enable_gqa", KeyKind::kFlag, "",
     "heads of q in groups share a head of k and v"},
    {"eps", KeyKind::kNumber, "", "added below a division"},
    {"expert", KeyKind::kFlag, "", "allow a conversion that is rarely meant"},
    {"gather_dim", KeyKind::kInteger, "", "where pieces are stacked"},
    {"groups", KeyKind::kInteger, "", "channels in parts that do not meet"},
    {"heads", KeyKind::kInteger, "", "equal parts of the last dimension"},
    {"ignore_index", KeyKind::kInteger, "", "class whose rows do not count"},
    {"interleaved", KeyKind::kFlag, "", "pairs are neighbours, not halves"},
    {"kernel_size", KeyKind::kIntegers, "", "height and width of a window"},
    {"keepdims", KeyKind::kFlag, "",
     "keep reduced dimensions, of size 1; PyTorch's keepdim"},
    {"label_smoothing", KeyKind::kNumber, "",
     "part of the target that all classes share"},
    {"momentum", KeyKind::kNumber, "", "decay of the velocity"},
    {"num_classes", KeyKind::kInteger, "", "classes that there are"},
    {"op", KeyKind::kWord, "sum mean max min prod", "how pieces are combined"},
    {"ord", KeyKind::kNumber, "", "order of the norm; PyTorch's p"},
    {"out", KeyKind::kWord, kDtypeNames, "dtype of the result"},
    {"output_padding", KeyKind::kIntegers, "",
     "rows and columns more of a result that strides leave open"},
    {"output_size", KeyKind::kIntegers, "", "height and width of the image"},
    {"over", KeyKind::kText, "", "mesh axes of a group: dp, or dp+tp"},
    {"padding", KeyKind::kIntegers, "", "margin on either side"},
    {"part", KeyKind::kPart, "",
     "START/WHOLE: where this block of a whole begins, and its sizes"},
    {"reduction", KeyKind::kWord, "mean sum none",
     "what becomes of the losses"},
    {"retain", KeyKind::kFlag, "", "keep the history after grad"},
    {"reused", KeyKind::kIntegers, "",
     "targets of grad whose names held other values before"},
    {"root", KeyKind::kInteger, "", "index in the group"},
    {"rows", KeyKind::kInteger, "", "rows of the table"},
    {"scale", KeyKind::kNumber, "", "factor"},
    {"scatter_dim", KeyKind::kInteger, "", "what is taken apart"},
    {"shape", KeyKind::kIntegers, "", "sizes; one -1 is worked out"},
    {"size", KeyKind::kInteger, "", "length of the piece; PyTorch's k, length"},
    {"sizes", KeyKind::kIntegers, "", "length of each piece"},
    {"space", KeyKind::kText, "", "name space of the mesh"},
    {"split", KeyKind::kText, "",
     "how the whole is cut over ranks: dp:0,tp:1*64"},
    {"split_dim", KeyKind::kInteger, "", "what is taken apart"},
    {"split_sizes", KeyKind::kText, "", "length of each rank's part: 2+3+1"},
    {"src", KeyKind::kText, "",
     "what the operand is on the axis: R I V P S0 S1 ..."},
    {"src_spec", KeyKind::kText, "",
     "axes that cut each dimension of the operand: dp+tp,-"},
    {"step", KeyKind::kNumber, "", "distance of neighbours"},
    {"stride", KeyKind::kIntegers, "", "distance of windows"},
    {"ta", KeyKind::kFlag, "", "transpose the first operand's last two"},
    {"tb", KeyKind::kFlag, "", "transpose the second operand's last two"},
    {"threshold", KeyKind::kNumber, "", "above it x is the result"},
    {"type", KeyKind::kText, "", "types by axis: dp:V,tp:R"},
    {"value", KeyKind::kNumber, "", "fill value; NumPy's constant_values"},
    {"width", KeyKind::kIntegers, "",
     "before and after each dimension; PyTorch's pad"},
});

}  // namespace

const KeyRow* find_key(std::string_view name) {
  for (const KeyRow& row : kKeys) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

std::span<const KeyRow> all_keys() { return kKeys; }

std::optional<bool> parse_flag(std::string_view value) {
  if (value == "1" || value == "true") return true;
  if (value == "0" || value == "false") return false;
  return std::nullopt;
}

}  // namespace gt
