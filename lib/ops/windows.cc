// Overlapping windows of a tensor, and convolutions, which are written in them.
#include "ops/windows.h"

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

// ---- one axis: windows and its adjoint --------------------------------------

Result<WindowAxis> one_window(const Call& call, int64_t length,
                              int64_t kernel) {
  WindowAxis axis;
  axis.in = length;
  axis.kernel = kernel;
  axis.stride = call.integer("stride");
  axis.dilation = call.integer("dilation");
  for (const int64_t n : {kernel, axis.stride, axis.dilation}) {
    if (n >= 1 && n <= kLongestWindow) continue;
    return Error{"size=, stride= and dilation= must be from 1 to " +
                 std::to_string(kLongestWindow)};
  }
  if (axis.reach() > length) {
    return Error{"a window of " + std::to_string(axis.reach()) +
                 " is longer than the dimension of " + std::to_string(length)};
  }
  return axis;
}

Status types_windows(Call& call) {
  const auto at = one_axis(call, 0);
  if (!at.ok()) return at.error();
  const auto d = static_cast<size_t>(at.value());
  Type type = call.type(0);
  if (type.shape.empty()) return Error{call.describe(0) + " has no dimension"};
  if (Status s = need_rank(type.shape.size() + 1); !s.ok()) return s;
  const auto axis = one_window(call, type.shape[d], call.integer("size"));
  if (!axis.ok()) return Error{call.describe(0) + ": " + axis.error().message};
  type.shape[d] = axis.value().out();
  type.shape.push_back(axis.value().kernel);
  call.results.push_back(type);
  return ok_status();
}

Status types_windows_grad(Call& call) {
  const Shape& from = call.type(0).shape;
  if (from.size() < 2) {
    return Error{call.describe(0) + " must have at least 2 dimensions"};
  }
  const int64_t kernel = from.back();
  Type type{call.type(0).dtype,
            Shape(std::span<const int64_t>(from.begin(), from.size() - 1))};
  const auto at = one_axis(call, 0, type.shape.size());
  if (!at.ok()) return at.error();
  const auto d = static_cast<size_t>(at.value());
  const auto axis = one_window(call, call.integer("rows"), kernel);
  if (!axis.ok()) return axis.error();
  if (Status s = need(axis.value().out() == type.shape[d],
                      "rows= of " + std::string(call.key("rows")) + " have " +
                          std::to_string(axis.value().out()) +
                          " windows, not those of " + call.describe(0));
      !s.ok()) {
    return s;
  }
  type.shape[d] = axis.value().in;
  call.results.push_back(type);
  return ok_status();
}

// Returns a label for each dimension except the axis and, in the tensor that
// has the windows, the last dimension.
std::vector<Label> labels_windows(const Call& call) {
  const size_t least =
      std::min(call.type(0).shape.size(), call.results[0].shape.size());
  const int64_t axis = one_axis(call, 0, least).value();
  std::vector<Label> labels;
  for (size_t d = 0; d < least; ++d) {
    if (static_cast<int64_t>(d) == axis) continue;
    Label label(call, call.type(0).shape[d]);
    label.arguments[0].dim = label.results[0].dim = static_cast<int32_t>(d);
    labels.push_back(std::move(label));
  }
  return labels;
}

// The placeholders of windows. {length}: the size of the axis that the windows
// were taken along; {kernel}: the elements of a window.
std::string windows_word(const Call& call, std::string_view name, size_t) {
  const Shape& from = call.type(0).shape;
  if (name == "kernel") return std::to_string(from.back());
  if (name != "length") return "";
  return std::to_string(from[static_cast<size_t>(one_axis(call, 0).value())]);
}

// ---- convolutions ----------------------------------------------------------

// Returns the labels of the index terms; if there are groups, channels must be
// whole.
std::vector<Label> labels_conv(const Call& call) {
  std::vector<Label> labels = labels_by_terms(call);
  if (call.integer("groups") == 1) return labels;
  const ImageOperands of = image_operands(call);
  const auto image = static_cast<size_t>(of.made < 0 ? of.image : of.made);
  std::erase_if(labels, [image](const Label& label) {
    return label.arguments[image].dim != 0;
  });
  return labels;
}

constexpr Row kWindowRows[] = {
    {.signature = "y = windows x axis= size= stride=1 dilation=1",
     .linear = "0",
     .gradient = "dx = windows_grad dy rows={length} keys...",
     .types = types_windows,
     .labels = labels_windows,
     .placeholder = windows_word,
     .flops = 0,
     .sense = "Windows of size elements along an axis, which may overlap.",
     .details = "The axis then counts windows, each stride behind the one "
                "before, and a new last dimension holds a window's elements, "
                "dilation apart. Errors: a window is longer than the axis.",
     .source = "with the axis first torch.Tensor.unfold; "
               "numpy.lib.stride_tricks.sliding_window_view; over two axes, "
               "torch.nn.functional.unfold",
     .example = "x = tensor f32[4] 1 2 3 4\n"
                "y = windows x axis=0 size=2\n"
                "print y\n"
                "=> y = tensor f32[3,2] 1 2 2 3 3 4"},
    {.signature = "z = windows_grad g axis= rows= stride=1 dilation=1",
     .linear = "0",
     .accepts = "float",
     .gradient = "dg = windows dz size={kernel} keys...",
     .types = types_windows_grad,
     .labels = labels_windows,
     .placeholder = windows_word,
     .sense = "Gradient of windows: each element's sum over the windows that "
              "hold it.",
     .details = "In f32 for f16 and bf16.",
     .source = "PyTorch's unfold_backward",
     .internal = true},
    {.signature = "y = conv2d x w [b] stride=1 padding=0 dilation=1 groups=1",
     .index = "ncp!q!,oci!j!,o->nop!q!",
     .linear = "02 12",
     .accepts = "float",
     .gradient = R"(
       [b] db = sum dy axis=0,2,3
       dx = conv2d_input_grad dy w output_size={in} keys...
       dw = conv2d_weight_grad dy x kernel_size={kernel} keys...)",
     .expansion = R"(
       a = pad x width={margin}
       c = windows a axis=2 size={kh} stride={sh} dilation={dh}
       d = windows c axis=3 size={kw} stride={sw} dilation={dw}
       e = reshape d shape={n},{groups},{cg},{out},{kernel}
       f = transpose e axes=1,0,3,4,2,5,6
       g = reshape f shape={groups},{rows},{columns}
       h = reshape w shape={groups},{og},{columns}
       i = matmul g h tb=1
       j = reshape i shape={groups},{n},{out},{og}
       k = transpose j axes=1,0,4,2,3
       [!b] y = reshape k shape={n},{o},{out}
       [b] l = reshape k shape={n},{o},{out}
       [b] m = reshape b shape={o},1,1
       [b] y = add l m)",
     .in_f32 = true,
     .types = types_image,
     .labels = labels_conv,
     .placeholder = image_word,
     .flops = 2,
     .sense = "Sums of products of windows of images and a weight, plus a "
              "bias.",
     .details = "x [n,c,h,w], w [o,c/groups,i,j] and b [o] give [n,o,p,q], p "
                "= (h + 2 padding - dilation (i - 1) - 1) / stride + 1 rounded "
                "down, and q alike. Keys are a number, or one for the height "
                "and one for the width. Errors: sizes differ; groups= does "
                "not divide the channels; a window is larger than the padded "
                "image; integers.",
     .source = "torch.nn.functional.conv2d; of images of height 1, "
               "torch.nn.functional.conv1d; LeCun et al., Gradient-based "
               "learning applied to document recognition, 1998; "
               "torch.nn.Conv2d",
     .places = "stride padding dilation groups",
     .example = "x = tensor f32[1,1,2,3] 1 2 3 4 5 6\n"
                "w = tensor f32[1,1,2,2] 1 0 0 1\n"
                "y = conv2d x w\n"
                "print y\n"
                "=> y = tensor f32[1,1,1,2] 6 8",
     .factors = "012",
     .weight_operand = 1},
    {.signature = "z = conv2d_input_grad g w output_size= stride=1 padding=0 "
                  "dilation=1 groups=1",
     .index = "nop!q!,oci!j!->ncp!q!",
     .linear = "0 1",
     .accepts = "float",
     .gradient = R"(
       dg = conv2d dz w keys...
       dw = conv2d_weight_grad g dz kernel_size={kernel} keys...)",
     .expansion = R"(
       a = reshape g shape={n},{groups},{og},{out}
       b = transpose a axes=1,0,3,4,2
       c = reshape b shape={groups},{rows},{og}
       d = reshape w shape={groups},{og},{columns}
       e = matmul c d
       f = reshape e shape={groups},{n},{out},{cg},{kernel}
       h = transpose f axes=1,0,4,2,3,5,6
       i = reshape h shape={n},{c},{out},{kernel}
       j = windows_grad i axis=3 rows={lw} stride={sw} dilation={dw}
       k = windows_grad j axis=2 rows={lh} stride={sh} dilation={dh}
       z = pad k width={crop})",
     .in_f32 = true,
     .types = types_image,
     .labels = labels_conv,
     .placeholder = image_word,
     .flops = 2,
     .sense = "Gradient of conv2d by its images.",
     .source = "torch.nn.grad.conv2d_input",
     .internal = true,
     .factors = "01",
     .weight_operand = 1},
    {.signature = "y = conv_transpose2d x w [b] stride=1 padding=0 "
                  "output_padding=0 dilation=1 groups=1",
     .index = "nop!q!,oci!j!,c->ncp!q!",
     .linear = "02 12",
     .accepts = "float",
     .gradient = R"(
       [b] db = sum dy axis=0,2,3
       dx = conv2d dy w keys...
       dw = conv2d_weight_grad x dy kernel_size={kernel} keys...)",
     .expansion = R"(
       [!b] y = conv2d_input_grad x w output_size={in} keys...
       [b half=1] k = cast x f32
       [b half=1] l = cast w f32
       [b half=0] k = copy x
       [b half=0] l = copy w
       [b] z = conv2d_input_grad k l output_size={in} keys...
       [b] m = reshape b shape={c},1,1
       [b] s = add z m
       [b half=1] y = cast s {y.dtype}
       [b half=0] y = copy s)",
     .types = types_image,
     .labels = labels_conv,
     .placeholder = image_word,
     .flops = 2,
     .sense = "Windows of w, each scaled by an element of an image and added "
              "up where they overlap, plus a bias: conv2d turned round.",
     .details = "x [n,c,h,w], w [c,o/groups,i,j] and b [o] give [n,o,p,q], p = "
                "(h - 1) stride - 2 padding + dilation (i - 1) + 1 + "
                "output_padding, and q alike: the sizes of an image of which "
                "conv2d makes x's. It is conv2d's gradient by its image. Keys "
                "are a number, or one for the height and one for the width. "
                "Errors: sizes differ; groups= does not divide the channels; "
                "output_padding= is not below stride=; the result has no row "
                "or no column; integers.",
     .source = "torch.nn.functional.conv_transpose2d; of images of height 1, "
               "torch.nn.functional.conv_transpose1d; Zeiler et al., "
               "Deconvolutional networks, 2010; torch.nn.ConvTranspose2d",
     .places = "stride padding output_padding groups dilation",
     .example = "x = tensor f32[1,1,1,2] 1 2\n"
                "w = tensor f32[1,1,1,2] 1 10\n"
                "y = conv_transpose2d x w\n"
                "print y\n"
                "=> y = tensor f32[1,1,1,3] 1 12 20",
     .factors = "012",
     .weight_operand = 1},
    {.signature = "z = conv2d_weight_grad g x kernel_size= stride=1 padding=0 "
                  "dilation=1 groups=1",
     .index = "nop!q!,ncp!q!->oci!j!",
     .linear = "0 1",
     .accepts = "float",
     .gradient = R"(
       dg = conv2d x dz keys...
       dx = conv2d_input_grad g dz output_size={in} keys...)",
     .expansion = R"(
       a = pad x width={margin}
       b = windows a axis=2 size={kh} stride={sh} dilation={dh}
       c = windows b axis=3 size={kw} stride={sw} dilation={dw}
       d = reshape c shape={n},{groups},{cg},{out},{kernel}
       e = transpose d axes=1,0,3,4,2,5,6
       f = reshape e shape={groups},{rows},{columns}
       h = reshape g shape={n},{groups},{og},{out}
       i = transpose h axes=1,0,3,4,2
       j = reshape i shape={groups},{rows},{og}
       k = matmul j f ta=1
       z = reshape k shape={o},{cg},{kernel})",
     .in_f32 = true,
     .types = types_image,
     .labels = labels_conv,
     .placeholder = image_word,
     .flops = 2,
     .sense = "Gradient of conv2d by its weight.",
     .source = "torch.nn.grad.conv2d_weight",
     .internal = true,
     .factors = "01"},
};

}  // namespace

constinit const Family kWindows{
    "windows", "Windows that slide over a tensor, and convolutions.",
    kWindowRows};

}  // namespace gt
