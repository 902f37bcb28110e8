// Windows that slide over images: the sizes of convolutions and pools, for type
// functions, row texts and kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ops/call.h"

namespace gt {

// The most that a key of windows may say, so that no size overflows.
inline constexpr int64_t kLongestWindow = int64_t{1} << 30;

// Of one of the two spatial dimensions.
struct WindowAxis {
  int64_t in = 0;  // length of the image, without padding
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;  // on either side
  int64_t dilation = 1;
  int64_t padded() const { return in + 2 * padding; }
  // From a window's first element to its last, both counted.
  int64_t reach() const { return dilation * (kernel - 1) + 1; }
  // Windows that there are.
  int64_t out() const { return (padded() - reach()) / stride + 1; }
};

// A convolution's or pool's call: the image is [n,c,h,w], the windows' result
// [n,o,p,q]. Of a pool, groups and the channels of a group count as 1.
struct Windows {
  std::array<WindowAxis, 2> axes;  // height, width
  int64_t n = 0;
  int64_t c = 0;
  int64_t o = 0;
  int64_t groups = 1;
  int64_t channels() const { return c / groups; }  // of a group
  int64_t outputs() const { return o / groups; }
};

// The operand that is an image of the size that windows slide over (x), that
// which has their results (g), and the weight (w); -1: there is none.
struct ImageOperands {
  int image = -1;
  int made = -1;
  int weight = -1;
};
ImageOperands image_operands(const Call& call);

// Of a row of convolutions or pools. Errors: dimensions that do not fit, a
// window larger than the padded image; they name the sizes.
Result<Windows> windows_of(const Call& call);

// Their type function: the result is the image, the weight or what the windows
// give, whichever is no operand.
Status types_image(Call& call);

// Words of row texts: {dtype} of the result; {n} {c} {o} {groups} {cg} {og},
// the last two of a group; {in} {kernel} {out}, lists of two; {kh} {kw}, {sh}
// {sw} and {dh} {dw}, of one axis; {lh} {lw}, lengths with padding; {rows}
// {columns}, of a group as a matrix of windows; {k}, elements of a window;
// {margin} and {crop}, widths of pad; {plane}, those of height and width alone.
std::string image_word(const Call& call, std::string_view name, size_t each);

}  // namespace gt
