// The sizes of convolutions and pools, whose windows slide over images, for
// their rows of the op table and for the kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ops/call.h"

namespace gt {

// The largest value of the keys below (kernel size, stride, padding, dilation),
// so that no size computed from them overflows.
inline constexpr int64_t kLongestWindow = int64_t{1} << 30;

// The sizes along one of the two spatial dimensions, in elements.
struct WindowAxis {
  int64_t in = 0;  // the image's length, without padding
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;  // on either side
  int64_t dilation = 1;
  int64_t padded() const { return in + 2 * padding; }
  // Returns the length from a window's first element to its last, both
  // included.
  int64_t reach() const { return dilation * (kernel - 1) + 1; }
  // Returns how many windows there are.
  int64_t out() const { return (padded() - reach()) / stride + 1; }
};

// The sizes of a call of a convolution or pool, or of its gradients: the image
// is [n,c,h,w], what the windows give is [n,o,p,q]. For a pool, the groups and
// the channels of a group count as 1.
struct Windows {
  std::array<WindowAxis, 2> axes;  // height, width
  int64_t n = 0;
  int64_t c = 0;
  int64_t o = 0;
  int64_t groups = 1;
  int64_t channels() const { return c / groups; }  // channels of a group
  int64_t outputs() const { return o / groups; }
};

// The roles of the operands, as indices among the arguments; -1: the op has no
// such operand. `image` has the size of what windows slide over, `made` that of
// what they give. A convolution has x, an image, and w; its gradient with
// respect to x has g, what was made, and w; that with respect to w has g and x.
// A transposed convolution has x, which is what was made, and w.
struct ImageOperands {
  int image = -1;
  int made = -1;
  int weight = -1;
};
ImageOperands image_operands(const Call& call);

// Returns the sizes of a call. Errors, which name the sizes: dimensions that do
// not fit, a window larger than the padded image.
Result<Windows> windows_of(const Call& call);

// Appends the result type, for these rows: that of what the windows give, of
// the image or of the weight, whichever is not an operand.
Status types_image(Call& call);

// The placeholders of these rows. {dtype}: that of the result; {n} {c} {o}
// {groups}: as in Windows; {cg} {og}: channels and outputs of a group; {in}
// {kernel} {out}: lists of two; {kh} {kw}, {sh} {sw} and {dh} {dw}: kernel,
// stride and dilation of one axis; {lh} {lw}: lengths with padding; {rows}
// {columns}: those of a group's windows as a matrix; {k}: elements of a window;
// {margin} and {crop}: width= of pad; {plane}: width= of pad for height and
// width alone.
std::string image_word(const Call& call, std::string_view name, size_t each);

}  // namespace gt
