// What each key means, once for all ops.
#include <array>

#include "ops/table.h"

namespace gt {
namespace {

using Kind = KeyRow::Kind;

#define GT_DTYPE(word, element, name, ...) " " name
constexpr char kDtypesAfterBlanks[] =
#include "stream/dtypes.def"
    ;
#undef GT_DTYPE
constexpr const char* kDtypeNames = kDtypesAfterBlanks + 1;

constexpr auto kKeys = std::to_array<KeyRow>({
    {"acc", Kind::kWord, kDtypeNames, "dtype that a sum is taken in"},
    {"approximate", Kind::kWord, "none tanh", "formula of gelu"},
    {"as", Kind::kText, "", "name to print under"},
    {"axes", Kind::kText, "",
     "order of the dimensions; of remesh, the axes; PyTorch's dims"},
    {"axis", Kind::kIntegers, "",
     "dimensions, negative from the end; PyTorch's dim, dims"},
    {"base", Kind::kNumber, "", "of the wave lengths"},
    {"beta", Kind::kNumber, "", "steepness"},
    {"beta1", Kind::kNumber, "", "decay of the first moment"},
    {"beta2", Kind::kNumber, "", "decay of the second moment"},
    {"bwd", Kind::kWord, "f32 f64 f16 bf16",
     "dtype that the gradient's sum is taken in"},
    {"causal", Kind::kFlag, "",
     "row i sees columns up to i alone; PyTorch's is_causal"},
    {"concat_dim", Kind::kInteger, "", "where slices are stacked"},
    {"count_include_pad", Kind::kFlag, "", "the margin counts in a mean"},
    {"correction", Kind::kNumber, "",
     "var divides by n - correction; PyTorch's unbiased, NumPy's ddof"},
    {"decay", Kind::kNumber, "",
     "decoupled weight decay; PyTorch's weight_decay"},
    {"delta", Kind::kNumber, "", "difference from which a loss is linear"},
    {"descending", Kind::kFlag, "", "largest first"},
    {"dilation", Kind::kIntegers, "", "distance of a window's elements"},
    {"dst", Kind::kText, "",
     "what the result is on the axis: R I V P S0 S1 ..."},
    {"dst_spec", Kind::kText, "",
     "axes that cut each dimension of the result: dp+tp,-"},
    {"enable_gqa", Kind::kFlag, "",
     "heads of q in groups share a head of k and v"},
    {"eps", Kind::kNumber, "", "added below a division"},
    {"expert", Kind::kFlag, "", "allow a conversion that is rarely meant"},
    {"gather_dim", Kind::kInteger, "", "where pieces are stacked"},
    {"groups", Kind::kInteger, "", "channels in parts that do not meet"},
    {"heads", Kind::kInteger, "", "equal parts of the last dimension"},
    {"ignore_index", Kind::kInteger, "", "class whose rows do not count"},
    {"interleaved", Kind::kFlag, "", "pairs are neighbours, not halves"},
    {"kernel_size", Kind::kIntegers, "", "height and width of a window"},
    {"keepdims", Kind::kFlag, "",
     "keep reduced dimensions, of size 1; PyTorch's keepdim"},
    {"label_smoothing", Kind::kNumber, "",
     "part of the target that all classes share"},
    {"momentum", Kind::kNumber, "", "decay of the velocity"},
    {"num_classes", Kind::kInteger, "", "classes that there are"},
    {"op", Kind::kWord, "sum mean max min prod", "how pieces are combined"},
    {"ord", Kind::kNumber, "", "order of the norm; PyTorch's p"},
    {"out", Kind::kWord, kDtypeNames, "dtype of the result"},
    {"output_padding", Kind::kIntegers, "",
     "rows and columns more of a result that strides leave open"},
    {"output_size", Kind::kIntegers, "", "height and width of the image"},
    {"over", Kind::kText, "", "mesh axes of a group: dp, or dp+tp"},
    {"padding", Kind::kIntegers, "", "margin on either side"},
    {"part", Kind::kPart, "",
     "START/WHOLE: where this block of a whole begins, and its sizes"},
    {"reduction", Kind::kWord, "mean sum none", "what becomes of the losses"},
    {"retain", Kind::kFlag, "", "keep the history after grad"},
    {"reused", Kind::kIntegers, "",
     "targets of grad whose names held other values before"},
    {"root", Kind::kInteger, "", "index in the group"},
    {"rows", Kind::kInteger, "", "rows of the table"},
    {"scale", Kind::kNumber, "", "factor"},
    {"scatter_dim", Kind::kInteger, "", "what is taken apart"},
    {"shape", Kind::kIntegers, "", "sizes; one -1 is worked out"},
    {"size", Kind::kInteger, "", "length of the piece; PyTorch's k, length"},
    {"sizes", Kind::kIntegers, "", "length of each piece"},
    {"space", Kind::kText, "", "name space of the mesh"},
    {"split", Kind::kText, "", "how the whole is cut over ranks: dp:0,tp:1*64"},
    {"split_dim", Kind::kInteger, "", "what is taken apart"},
    {"split_sizes", Kind::kText, "", "length of each rank's part: 2+3+1"},
    {"src", Kind::kText, "",
     "what the operand is on the axis: R I V P S0 S1 ..."},
    {"src_spec", Kind::kText, "",
     "axes that cut each dimension of the operand: dp+tp,-"},
    {"step", Kind::kNumber, "", "distance of neighbours"},
    {"stride", Kind::kIntegers, "", "distance of windows"},
    {"ta", Kind::kFlag, "", "transpose the first operand's last two"},
    {"tb", Kind::kFlag, "", "transpose the second operand's last two"},
    {"threshold", Kind::kNumber, "", "above it x is the result"},
    {"type", Kind::kText, "", "types by axis: dp:V,tp:R"},
    {"value", Kind::kNumber, "", "fill value; NumPy's constant_values"},
    {"width", Kind::kIntegers, "",
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
