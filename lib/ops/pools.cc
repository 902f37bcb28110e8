// Pools: the largest or the mean of each window of an image.
#include "ops/families.h"
#include "ops/row_text.h"
#include "ops/shape_rules.h"
#include "ops/windows.h"

namespace gt {
namespace {

constexpr char kPool[] = "ncp!q!->ncp!q!";
constexpr char kTwoPlanes[] = "ncp!q!,ncp!q!->ncp!q!";

// The result has x's type: the elements of a second image at the places of the
// maxima.
Status types_pick(Call& call) {
  if (Status s = need_same_type(call, 0, 1); !s.ok()) return s;
  return types_image(call);
}

// Computes m, [n,c,p,q,k]: all windows of x side by side, with -inf in the
// margin.
constexpr char kWindowsOfX[] = R"(
       a = pad x width={margin} value=-inf
       b = windows a axis=2 size={kh} stride={sh} dilation={dh}
       e = windows b axis=3 size={kw} stride={sw} dilation={dw}
       m = reshape e shape={n},{c},{out},{k})";

// Computes the image z: the elements of all windows v, added up.
constexpr char kImageOfWindows[] = R"(
       r = windows_grad v axis=3 rows={lw} stride={sw} dilation={dw}
       s = windows_grad r axis=2 rows={lh} stride={sh} dilation={dh}
       z = pad s width={crop})";

// Computes count, [p,q]: how many elements of the image each window has.
constexpr char kCounts[] = R"(
       [count_include_pad!=1] l = ones {dtype}[{in}]
       [count_include_pad!=1] p = pad l width={plane}
       [count_include_pad!=1] q = windows p axis=0 size={kh} stride={sh}
       [count_include_pad!=1] w = windows q axis=1 size={kw} stride={sw}
       [count_include_pad!=1] count = sum w axis=2,3)";

constexpr auto kMaxPool = row_text(kWindowsOfX, R"(
       y = max m axis=-1)");
constexpr auto kMaxPoolGrad = row_text(kWindowsOfX, R"(
       i = argmax m axis=-1 keepdims=1
       o = zeros {dtype}[{n},{c},{out},{k}]
       h = unsqueeze g axis=-1
       u = scatter_add o i h axis=-1
       v = reshape u shape={n},{c},{out},{kernel})",
                                       kImageOfWindows);
constexpr auto kMaxPoolPick = row_text(kWindowsOfX, R"(
       i = argmax m axis=-1 keepdims=1
       l = pad d width={margin}
       f = windows l axis=2 size={kh} stride={sh} dilation={dh}
       h = windows f axis=3 size={kw} stride={sw} dilation={dw}
       j = reshape h shape={n},{c},{out},{k}
       t = gather j i axis=-1
       y = squeeze t axis=-1)");
constexpr auto kAvgPool = row_text(kCounts, R"(
       a = pad x width={margin}
       b = windows a axis=2 size={kh} stride={sh}
       e = windows b axis=3 size={kw} stride={sw}
       [count_include_pad=1] y = part_mean e axis=4,5 divisor={k}
       [count_include_pad!=1] t = part_mean e axis=4,5 divisor={k}
       [count_include_pad!=1] f = div {k} count
       [count_include_pad!=1] y = mul t f)");
constexpr auto kAvgPoolGrad = row_text(kCounts, R"(
       [count_include_pad=1] d = div g {k}
       [count_include_pad!=1] d = div g count
       t = reshape d shape={n},{c},{out},1,1
       v = expand t shape={n},{c},{out},{kernel})",
                                       kImageOfWindows);

constexpr Row kPoolRows[] = {
    {.signature = "y = max_pool2d x kernel_size= [stride=] padding=0 "
                  "dilation=1",
     .index = kPool,
     .accepts = "float",
     .gradient = "dx = max_pool2d_grad dy x keys...",
     .expansion = kMaxPool.data(),
     .in_f32 = true,
     .types = types_image,
     .placeholder = image_word,
     .sense = "The largest element of each window of an image.",
     .details = "x [n,c,h,w] gives [n,c,p,q], p = (h + 2 padding - dilation "
                "(kernel_size - 1) - 1) / stride + 1 rounded down, and q "
                "alike. Keys are a number, or one for the height and one for "
                "the width; without stride= windows lie side by side. The "
                "margin counts as -inf; the first of equals gets the "
                "gradient. Errors: a window is larger than the padded image; "
                "padding= is more than half of kernel_size=; integers.",
     .source = "torch.nn.functional.max_pool2d; torch.nn.MaxPool2d; of images "
               "of height 1, torch.nn.functional.max_pool1d",
     .places = "kernel_size stride padding dilation",
     .example = "x = tensor f32[1,1,2,4] 1 2 3 4 5 6 7 8\n"
                "y = max_pool2d x kernel_size=2\n"
                "print y\n"
                "=> y = tensor f32[1,1,1,2] 6 8"},
    {.signature = "z = max_pool2d_grad g x kernel_size= [stride=] padding=0 "
                  "dilation=1",
     .index = kTwoPlanes,
     .linear = "0",
     .accepts = "float",
     .gradient = "dg = max_pool2d_pick dz x keys...",
     .non_differentiable = "x",
     .expansion = kMaxPoolGrad.data(),
     .in_f32 = true,
     .types = types_image,
     .placeholder = image_word,
     .sense = "Gradient of max_pool2d: each window's goes to its largest.",
     .source = "PyTorch's max_pool2d_with_indices_backward",
     .internal = true},
    {.signature = "y = max_pool2d_pick d x kernel_size= [stride=] padding=0 "
                  "dilation=1",
     .index = kTwoPlanes,
     .linear = "0",
     .accepts = "float",
     .gradient = "dd = max_pool2d_grad dy x keys...",
     .non_differentiable = "x",
     .expansion = kMaxPoolPick.data(),
     .in_f32 = true,
     .types = types_pick,
     .placeholder = image_word,
     .sense = "Of each window, d where x is largest: max_pool2d_grad's own.",
     .source = "PyTorch's max_pool2d_with_indices_backward, differentiated",
     .internal = true},
    {.signature = "y = avg_pool2d x kernel_size= [stride=] padding=0 "
                  "count_include_pad=1",
     .index = kPool,
     .linear = "0",
     .accepts = "float",
     .gradient = "dx = avg_pool2d_grad dy output_size={in} keys...",
     .expansion = kAvgPool.data(),
     .in_f32 = true,
     .types = types_image,
     .placeholder = image_word,
     .sense = "The mean of each window of an image.",
     .details = "x and keys as in max_pool2d; the margin counts as zeros, "
                "with count_include_pad=0 not at all. Errors: as in "
                "max_pool2d.",
     .source = "torch.nn.functional.avg_pool2d; torch.nn.AvgPool2d; of images "
               "of height 1, torch.nn.functional.avg_pool1d",
     .places = "kernel_size stride padding",
     .example = "x = tensor f32[1,1,2,4] 1 2 3 4 5 6 7 8\n"
                "y = avg_pool2d x kernel_size=2\n"
                "print y\n"
                "=> y = tensor f32[1,1,1,2] 3.5 5.5"},
    {.signature = "z = avg_pool2d_grad g output_size= kernel_size= [stride=] "
                  "padding=0 count_include_pad=1",
     .index = kPool,
     .linear = "0",
     .accepts = "float",
     .gradient = "dg = avg_pool2d dz keys...",
     .expansion = kAvgPoolGrad.data(),
     .in_f32 = true,
     .types = types_image,
     .placeholder = image_word,
     .sense = "Gradient of avg_pool2d: each window's, spread over it.",
     .source = "PyTorch's avg_pool2d_backward",
     .internal = true},
};

}  // namespace

constinit const Family kPools{"pools", "Windows of images made one number.",
                              kPoolRows};

}  // namespace gt
