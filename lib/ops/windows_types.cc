// Code that convolutions and pools share: the sizes of a call, types,
// placeholders.
#include <utility>

#include "ops/shape_rules.h"
#include "ops/windows.h"

namespace gt {
namespace {

constexpr size_t kImageRank = 4;

// Reads a key that is one number or two: height and width.
Result<std::array<int64_t, 2>> pair_of(const Call& call, const char* key,
                                       int64_t least) {
  const std::vector<int64_t> list = call.integers(key);
  const auto is_fine = [least](int64_t n) {
    return n >= least && n <= kLongestWindow;
  };
  if ((list.size() == 1 || list.size() == 2) && is_fine(list.front()) &&
      is_fine(list.back())) {
    return std::array<int64_t, 2>{list.front(), list.back()};
  }
  return Error{std::string(key) + "= must be one or two numbers from " +
               std::to_string(least) + " to " + std::to_string(kLongestWindow)};
}

// Sets a field of both axes from a key; leaves it if the key is not given.
Status set_pair(const Call& call, const char* key, int64_t least,
                Windows& windows, int64_t WindowAxis::*field) {
  if (!call.has_key(key)) return ok_status();
  const auto pair = pair_of(call, key, least);
  if (!pair.ok()) return pair.error();
  for (size_t i = 0; i < 2; ++i) windows.axes[i].*field = pair.value()[i];
  return ok_status();
}

Status need_image(const Call& call, size_t i) {
  if (call.type(i).shape.size() == kImageRank) return ok_status();
  const bool one = call.type(i).shape.size() == kImageRank - 1;
  return Error{call.describe(i) + " must have 4 dimensions" +
               (one ? "; unsqueeze axis=0 adds that of the batch" : "")};
}

Status check_axis(const WindowAxis& axis, const char* name) {
  if (axis.reach() <= axis.padded()) return ok_status();
  return Error{"a window's " + std::string(name) + " of " +
               std::to_string(axis.reach()) + " is larger than the image's, " +
               std::to_string(axis.padded()) + " with its padding"};
}

Status set_kernel(const Call& call, const ImageOperands& of, Windows& windows) {
  if (of.weight < 0) {
    return set_pair(call, "kernel_size", 1, windows, &WindowAxis::kernel);
  }
  if (Status s = need_image(call, static_cast<size_t>(of.weight)); !s.ok()) {
    return s;
  }
  const Shape& w = call.type(static_cast<size_t>(of.weight)).shape;
  windows.axes[0].kernel = w[2];
  windows.axes[1].kernel = w[3];
  const std::string what = call.describe(static_cast<size_t>(of.weight));
  if (w[2] < 1 || w[3] < 1) {
    return Error{what + " has a window without elements"};
  }
  return need(w[2] <= kLongestWindow && w[3] <= kLongestWindow,
              what + " has a window of more than " +
                  std::to_string(kLongestWindow) + " rows or columns");
}

Status set_keys(const Call& call, Windows& windows) {
  for (WindowAxis& axis : windows.axes) {
    // Windows of a pool stand side by side, unless stride= says otherwise.
    if (call.op->key_index("groups") < 0) axis.stride = axis.kernel;
  }
  if (call.has_key("groups")) windows.groups = call.integer("groups");
  if (Status s = need(windows.groups > 0, "groups= must be at least 1");
      !s.ok()) {
    return s;
  }
  Status s = set_pair(call, "stride", 1, windows, &WindowAxis::stride);
  if (s.ok()) s = set_pair(call, "padding", 0, windows, &WindowAxis::padding);
  if (s.ok()) s = set_pair(call, "dilation", 1, windows, &WindowAxis::dilation);
  return s;
}

// True if the op is a transposed convolution: its operand x is what windows
// give, and its keys determine the size of the image that they slide over.
bool is_transposed(const Call& call) {
  return call.op->key_index("output_padding") >= 0;
}

// Sets the image's lengths if the operand x is what windows give.
Status set_transposed(const Call& call, size_t x, Windows& windows) {
  if (Status s = need_image(call, x); !s.ok()) return s;
  const auto extra = pair_of(call, "output_padding", 0);
  if (!extra.ok()) return extra.error();
  for (size_t i = 0; i < 2; ++i) {
    WindowAxis& axis = windows.axes[i];
    if (extra.value()[i] >= axis.stride) {
      return Error{"output_padding= of " + std::to_string(extra.value()[i]) +
                   " must be below stride=, which is " +
                   std::to_string(axis.stride)};
    }
    const int64_t steps = call.type(x).shape[2 + i] - 1;
    const bool is_fine = steps >= 0 && steps < kLongestWindow;
    axis.in = !is_fine ? 0
                       : steps * axis.stride - 2 * axis.padding + axis.reach() +
                             extra.value()[i];
    if (axis.in < 1 || axis.in > kLongestWindow) {
      return Error{std::string(i == 0 ? "the height" : "the width") +
                   " of the result of " + call.describe(x) +
                   " must be from 1 to " + std::to_string(kLongestWindow)};
    }
  }
  return ok_status();
}

Status set_image(const Call& call, const ImageOperands& of, Windows& windows) {
  if (is_transposed(call)) {
    return set_transposed(call, static_cast<size_t>(of.made), windows);
  }
  if (of.image < 0) {
    return set_pair(call, "output_size", 0, windows, &WindowAxis::in);
  }
  const auto i = static_cast<size_t>(of.image);
  if (Status s = need_image(call, i); !s.ok()) return s;
  const Shape& x = call.type(i).shape;
  windows.n = x[0];
  windows.c = windows.o = x[1];
  windows.axes[0].in = x[2];
  windows.axes[1].in = x[3];
  return ok_status();
}

Status set_channels(const Call& call, const ImageOperands& of,
                    Windows& windows) {
  if (of.made >= 0) {
    const auto i = static_cast<size_t>(of.made);
    if (Status s = need_image(call, i); !s.ok()) return s;
    windows.n = call.type(i).shape[0];
    windows.o = call.type(i).shape[1];
    if (of.image < 0) windows.c = windows.o;
  }
  if (of.weight >= 0) {
    const Shape& w = call.type(static_cast<size_t>(of.weight)).shape;
    if (of.image < 0) windows.c = w[1] * windows.groups;
    windows.o = w[0];
  }
  return ok_status();
}

// A pool's window that has only margin would have no largest element.
Status check_pool(const Call& call, const Windows& s) {
  if (call.op->key_index("groups") >= 0) return ok_status();
  return need(2 * s.axes[0].padding <= s.axes[0].kernel &&
                  2 * s.axes[1].padding <= s.axes[1].kernel,
              "padding= must be at most half of kernel_size=");
}

// Checks that operands whose sizes follow from the other operands have these
// sizes.
Status check_windows(const Call& call, const ImageOperands& of,
                     const Windows& s) {
  const std::string groups = "groups=" + std::to_string(s.groups);
  if (s.c % s.groups != 0 || s.o % s.groups != 0) {
    return Error{groups + " does not divide " + std::to_string(s.c) + " and " +
                 std::to_string(s.o) + " channels"};
  }
  if (of.weight >= 0 && of.image >= 0) {
    const auto w = static_cast<size_t>(of.weight);
    const auto x = static_cast<size_t>(of.image);
    if (call.type(w).shape[1] != s.channels()) {
      return Error{call.describe(x) + " and " + call.describe(w) + ": " +
                   std::to_string(s.c) + " channels in " + groups +
                   " are not " + std::to_string(call.type(w).shape[1]) +
                   " each"};
    }
  }
  for (size_t i = 0; i < 2; ++i) {
    const Status fits = check_axis(s.axes[i], i == 0 ? "height" : "width");
    if (!fits.ok()) return fits;
  }
  if (of.made < 0) return ok_status();
  const auto g = static_cast<size_t>(of.made);
  const Shape wanted{s.n, s.o, s.axes[0].out(), s.axes[1].out()};
  return need(
      call.type(g).shape == wanted,
      call.describe(g) + " must have the shape [" + to_string(wanted) + "]");
}

std::string joined(int64_t height, int64_t width) {
  return std::to_string(height) + "," + std::to_string(width);
}

}  // namespace

ImageOperands image_operands(const Call& call) {
  ImageOperands found;
  for (size_t i = 0; i < call.op->operands.size(); ++i) {
    const std::string& name = call.op->operands[i].name;
    if (name == "x") {
      (is_transposed(call) ? found.made : found.image) = static_cast<int>(i);
    }
    if (name == "g") found.made = static_cast<int>(i);
    if (name == "w") found.weight = static_cast<int>(i);
  }
  return found;
}

Result<Windows> windows_of(const Call& call) {
  const ImageOperands of = image_operands(call);
  Windows windows;
  Status s = set_kernel(call, of, windows);
  if (s.ok()) s = set_keys(call, windows);
  if (s.ok()) s = set_image(call, of, windows);
  if (s.ok()) s = set_channels(call, of, windows);
  if (s.ok()) s = check_windows(call, of, windows);
  if (s.ok()) s = check_pool(call, windows);
  if (!s.ok()) return s.error();
  return windows;
}

Status types_image(Call& call) {
  const auto found = windows_of(call);
  if (!found.ok()) return found.error();
  const Windows& s = found.value();
  const ImageOperands of = image_operands(call);
  Type type{promote(call.arguments), {}};
  if (of.made < 0) {
    type.shape = {s.n, s.o, s.axes[0].out(), s.axes[1].out()};
  } else if (call.op->key_index("groups") >= 0 && of.weight < 0) {
    type.shape = {s.o, s.channels(), s.axes[0].kernel, s.axes[1].kernel};
  } else {
    type.shape = {s.n, s.c, s.axes[0].in, s.axes[1].in};
  }
  if (call.op->operands.size() > 2 && call.given(2)) {  // a bias
    const Shape wanted{type.shape[1]};                  // the result's channels
    if (!(call.type(2).shape == wanted)) {
      return Error{call.describe(2) + " must have the shape [" +
                   to_string(wanted) + "], a number for each channel"};
    }
  }
  call.results.push_back(type);
  return ok_status();
}

std::string image_word(const Call& call, std::string_view name, size_t) {
  if (name == "half") return half_word(call, name, 0);
  const Windows s = windows_of(call).value();
  const WindowAxis& h = s.axes[0];
  const WindowAxis& w = s.axes[1];
  if (name == "dtype") return std::string(to_string(call.results[0].dtype));
  const std::string plane =
      joined(h.padding, h.padding) + "," + joined(w.padding, w.padding);
  if (name == "in") return joined(h.in, w.in);
  if (name == "kernel") return joined(h.kernel, w.kernel);
  if (name == "out") return joined(h.out(), w.out());
  if (name == "plane") return plane;
  if (name == "margin") return "0,0,0,0," + plane;
  if (name == "crop") {
    return "0,0,0,0," + joined(-h.padding, -h.padding) + "," +
           joined(-w.padding, -w.padding);
  }
  const std::pair<std::string_view, int64_t> numbers[] = {
      {"n", s.n},
      {"c", s.c},
      {"o", s.o},
      {"groups", s.groups},
      {"cg", s.channels()},
      {"og", s.outputs()},
      {"kh", h.kernel},
      {"kw", w.kernel},
      {"sh", h.stride},
      {"sw", w.stride},
      {"dh", h.dilation},
      {"dw", w.dilation},
      {"lh", h.padded()},
      {"lw", w.padded()},
      {"k", h.kernel * w.kernel},
      {"rows", s.n * h.out() * w.out()},
      {"columns", s.channels() * h.kernel * w.kernel}};
  for (const auto& [word, number] : numbers) {
    if (name == word) return std::to_string(number);
  }
  return "";
}

}  // namespace gt
