// Ops that give the same elements in another shape or order.
#include <algorithm>

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/regrouping.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status result(Call& call, const Shape& shape) {
  call.results.push_back({call.type(0).dtype, shape});
  return ok_status();
}

Status types_reshape(Call& call) {
  Shape shape;
  int64_t known = 1;
  size_t open = SIZE_MAX;
  const std::string wanted =
      " cannot take shape " + std::string(call.key("shape"));
  const int64_t elements = call.type(0).elements();
  if (Status s = need_rank(call.integers("shape").size()); !s.ok()) return s;
  for (const int64_t size : call.integers("shape")) {
    if (size < -1 || (size == -1 && open != SIZE_MAX)) {
      return Error{
          "key shape may hold one -1 and no other negative size, "
          "got " +
          std::string(call.key("shape"))};
    }
    if (size == -1) {
      open = shape.size();
    } else if (__builtin_mul_overflow(known, size, &known)) {
      return Error{call.describe(0) + wanted};
    }
    shape.push_back(size);
  }
  if (open != SIZE_MAX) {
    if (known == 0 || elements % known != 0) {
      return Error{call.describe(0) + wanted + ": " + std::to_string(elements) +
                   " elements are no multiple of " + std::to_string(known)};
    }
    shape[open] = elements / known;
  } else if (known != elements) {
    return Error{call.describe(0) + wanted + ": " + std::to_string(elements) +
                 " elements are not " + std::to_string(known)};
  }
  return result(call, shape);
}

Status types_squeeze(Call& call) {
  const auto axes = axis_list(call, 0);
  if (!axes.ok()) return axes.error();
  std::vector<int64_t> ones;
  for (const int64_t axis : axes.value()) {
    if (call.type(0).shape[static_cast<size_t>(axis)] == 1) {
      ones.push_back(axis);
    }
  }
  return result(call, reduced_shape(call.type(0).shape, ones, false));
}

Status types_unsqueeze(Call& call) {
  const std::vector<int64_t> axes = call.integers("axis");
  const size_t rank = call.type(0).shape.size() + axes.size();
  if (axes.empty()) return Error{"key axis must name a dimension"};
  if (Status s = need_rank(rank); !s.ok()) return s;
  std::vector<int64_t> places;
  for (const int64_t axis : axes) {
    const int64_t place = normal_axis(axis, rank);
    if (place < 0) {
      return Error{"axis " + std::to_string(axis) + " is not one of the " +
                   std::to_string(rank) + " dimensions of the result"};
    }
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
    return Error{"axis " + std::string(call.key("axis")) +
                 " names a dimension twice"};
  }
  Shape shape = call.type(0).shape;
  for (const int64_t place : places) {
    shape.insert(static_cast<size_t>(place), 1);
  }
  return result(call, shape);
}

Status types_transpose(Call& call) {
  const auto order = transpose_order(call);
  if (!order.ok()) return order.error();
  Shape shape;
  for (const int64_t axis : order.value()) {
    shape.push_back(call.type(0).shape[static_cast<size_t>(axis)]);
  }
  return result(call, shape);
}

std::string transpose_word(const Call& call, std::string_view name, size_t) {
  if (name != "inverse") return "";
  const std::vector<int64_t> order = transpose_order(call).value();
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return list_text(inverse);
}

Status types_expand(Call& call) {
  const Shape& from = call.type(0).shape;
  const std::vector<int64_t> sizes = call.integers("shape");
  Shape shape;
  const Error error{call.describe(0) + " does not expand to shape " +
                    std::string(call.key("shape")) +
                    ": only sizes of 1 and new leading ones can grow"};
  if (sizes.size() < from.size()) return error;
  if (Status s = need_rank(sizes.size()); !s.ok()) return s;
  const size_t lead = sizes.size() - from.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool keep = sizes[i] == -1 && i >= lead;
    const int64_t size = keep ? from[i - lead] : sizes[i];
    if (size < 0) return error;
    if (i >= lead && size != from[i - lead] && from[i - lead] != 1) {
      return error;
    }
    shape.push_back(size);
  }
  return result(call, shape);
}

Status types_flip(Call& call) {
  const auto axes = axis_list(call, 0);
  if (!axes.ok()) return axes.error();
  return result(call, call.type(0).shape);
}

Status types_pad(Call& call) {
  const std::vector<int64_t> width = call.integers("width");
  Shape shape = call.type(0).shape;
  if (width.size() != 2 * shape.size()) {
    return Error{"key width must be " + std::to_string(2 * shape.size()) +
                 " lengths, before and after each dimension of " +
                 call.describe(0) + ", got " + std::to_string(width.size())};
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t size = shape[i];
    int64_t padded = 0;
    if (__builtin_add_overflow(size, width[2 * i], &padded) ||
        __builtin_add_overflow(padded, width[2 * i + 1], &padded)) {
      return Error{"key width is out of range"};
    }
    if (padded < 0 || width[2 * i] < -size || width[2 * i + 1] < -size) {
      return Error{"width " + std::string(call.key("width")) +
                   " crops more than axis " + std::to_string(i) + " of " +
                   call.describe(0)};
    }
    shape[i] = padded;
  }
  const std::string_view value = call.key("value");
  const Dtype dtype = call.type(0).dtype;
  const Status s = need_held_if_cast(dtype, *parse_number(value), value);
  if (!s.ok()) return s;
  return result(call, shape);
}

// The placeholder of pad. {opposite}: the width that undoes this one.
std::string pad_word(const Call& call, std::string_view name, size_t) {
  if (name != "opposite") return "";
  std::vector<int64_t> width = call.integers("width");
  for (int64_t& w : width) w = -w;
  return list_text(width);
}

std::vector<Label> labels_squeeze(const Call& call) {
  const std::vector<int64_t> axes = axis_list(call, 0).value();
  std::vector<int32_t> to;
  int32_t next = 0;
  for (size_t d = 0; d < call.type(0).shape.size(); ++d) {
    const bool goes = call.type(0).shape[d] == 1 &&
                      std::find(axes.begin(), axes.end(),
                                static_cast<int64_t>(d)) != axes.end();
    to.push_back(goes ? -1 : next++);
  }
  return labels_moved(call, to);
}

std::vector<Label> labels_unsqueeze(const Call& call) {
  const size_t rank = call.results[0].shape.size();
  std::vector<bool> is_new(rank, false);
  for (const int64_t axis : call.integers("axis")) {
    is_new[static_cast<size_t>(normal_axis(axis, rank))] = true;
  }
  std::vector<int32_t> to;
  for (size_t d = 0; d < rank; ++d) {
    if (!is_new[d]) to.push_back(static_cast<int32_t>(d));
  }
  return labels_moved(call, to);
}

std::vector<Label> labels_transpose(const Call& call) {
  const std::vector<int64_t> order = transpose_order(call).value();
  std::vector<int32_t> to(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    to[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  return labels_moved(call, to);
}

// A dimension that grew has a label in the result alone.
std::vector<Label> labels_expand(const Call& call) {
  const Shape& from = call.type(0).shape;
  const Shape& to = call.results[0].shape;
  const size_t lead = to.size() - from.size();
  std::vector<Label> labels;
  for (size_t d = 0; d < to.size(); ++d) {
    Label label(call, to[d]);
    label.results[0].dim = static_cast<int32_t>(d);
    if (d >= lead && from[d - lead] == to[d]) {
      label.arguments[0].dim = static_cast<int32_t>(d - lead);
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

std::vector<Label> labels_flip(const Call& call) {
  const std::vector<int64_t> axes = axis_list(call, 0).value();
  std::vector<int32_t> to(call.type(0).shape.size());
  for (size_t d = 0; d < to.size(); ++d) to[d] = static_cast<int32_t>(d);
  for (const int64_t axis : axes) to[static_cast<size_t>(axis)] = -1;
  return labels_moved(call, to);
}

std::vector<Label> labels_pad(const Call& call) {
  const std::vector<int64_t> width = call.integers("width");
  std::vector<int32_t> to;
  for (size_t d = 0; 2 * d + 1 < width.size(); ++d) {
    const bool same = width[2 * d] == 0 && width[2 * d + 1] == 0;
    to.push_back(same ? static_cast<int32_t>(d) : -1);
  }
  return labels_moved(call, to);
}

// A margin of anything other than zeros is added once for each summand.
Linearity pad_linearity(const Call& call) {
  return call.number("value") == 0 ? Linearity::kLinear : Linearity::kAffine;
}

constexpr Row kLayoutRows[] = {
    {.signature = "y = reshape x shape= [split=]",
     .linear = "0",
     .gradient = "dx = reshape dy shape={x.shape}",
     .types = types_reshape,
     .labels = labels_reshape,
     .flops = 0,
     .sense = "The elements in row-major order under another shape.",
     .details = "One size may be -1: it is worked out. shape=\"\" is that of a "
                "scalar. Errors: the number of elements differs.",
     .source = "torch.reshape; torch.Tensor.view; with shape=-1 "
               "torch.flatten, torch.ravel",
     .places = "*shape",
     .example = "x = arange f32[6]\n"
                "y = reshape x shape=2,-1\n"
                "print y\n"
                "=> y = tensor f32[2,3] 0 1 2 3 4 5",
     .alias = true,
     .regroups = true},
    {.signature = "y = squeeze x [axis=]",
     .linear = "0",
     .gradient = "dx = reshape dy shape={x.shape}",
     .types = types_squeeze,
     .labels = labels_squeeze,
     .flops = 0,
     .sense = "Without dimensions of size 1.",
     .details = "All of them, or those that axis= names; a named one of "
                "another size stays, as in PyTorch. Errors: an axis that is "
                "not there.",
     .source = "torch.squeeze",
     .places = "axis",
     .example = "x = tensor f32[1,2,1] 1 2\n"
                "y = squeeze x axis=0\n"
                "print y\n"
                "=> y = tensor f32[2,1] 1 2",
     .alias = true},
    {.signature = "y = unsqueeze x axis=",
     .linear = "0",
     .gradient = "dx = reshape dy shape={x.shape}",
     .types = types_unsqueeze,
     .labels = labels_unsqueeze,
     .flops = 0,
     .sense = "With new dimensions of size 1.",
     .details = "axis= says where they are in the result. Errors: an axis that "
                "the result does not have; more than 8 dimensions.",
     .source = "torch.unsqueeze; numpy.expand_dims for a list",
     .places = "axis",
     .example = "x = tensor f32[2] 1 2\n"
                "y = unsqueeze x axis=-1\n"
                "print y\n"
                "=> y = tensor f32[2,1] 1 2",
     .alias = true},
    {.signature = "y = transpose x [axes=]",
     .linear = "0",
     .gradient = R"(
       [axes] dx = transpose dy axes={inverse}
       [!axes] dx = transpose dy)",
     .types = types_transpose,
     .labels = labels_transpose,
     .placeholder = transpose_word,
     .flops = 0,
     .sense = "The dimensions in another order.",
     .details = "Dimension i of the result is dimension axes[i] of x; without "
                "axes= the order is reversed. Errors: axes= does not name each "
                "dimension once.",
     .source =
         "torch.permute; numpy.transpose; torch.swapaxes, torch.swapdims; "
         "torch.t; numpy.ndarray.T; of one axis torch.movedim, "
         "numpy.moveaxis; between two "
         "reshapes, torch.nn.functional.pixel_shuffle, "
         "torch.nn.functional.pixel_unshuffle",
     .places = "*axes",
     .example = "x = tensor f32[2,3] 1 2 3 4 5 6\n"
                "y = transpose x\n"
                "print y\n"
                "=> y = tensor f32[3,2] 1 4 2 5 3 6"},
    {.signature = "y = expand x shape= [split=]",
     .linear = "0",
     .gradient = "dx = copy dy",
     .types = types_expand,
     .labels = labels_expand,
     .flops = 0,
     .sense = "x repeated along dimensions of size 1 and new leading ones.",
     .details = "-1 keeps a size. Errors: another size would have to change.",
     .source = "torch.Tensor.expand; torch.broadcast_to; between unsqueeze "
               "and reshape it is torch.repeat_interleave; of vectors "
               "torch.meshgrid; between "
               "unsqueeze and reshape, for rows and for columns, nearest "
               "torch.nn.functional.interpolate, torch.nn.functional.upsample",
     .places = "*shape",
     .example = "x = tensor f32[2,1] 1 2\n"
                "y = expand x shape=2,2\n"
                "print y\n"
                "=> y = tensor f32[2,2] 1 1 2 2",
     .repeats = true},
    {.signature = "y = flip x [axis=]",
     .linear = "0",
     .gradient = "dx = flip dy axis={axis}",
     .types = types_flip,
     .labels = labels_flip,
     .flops = 0,
     .sense = "The order of elements reversed along axes.",
     .details = "Along all without axis=. Errors: an axis that is not there, "
                "or twice.",
     .source = "torch.flip",
     .places = "*axis",
     .example = "x = tensor f32[3] 1 2 3\n"
                "y = flip x\n"
                "print y\n"
                "=> y = tensor f32[3] 3 2 1"},
    {.signature = "y = pad x width= value=0",
     .linear = "0",  // for zeros; the join handles other values
     .gradient = "dx = pad dy width={opposite}",
     .types = types_pad,
     .labels = labels_pad,
     .placeholder = pad_word,
     .flops = 0,
     .sense = "x with a margin of value, or cropped.",
     .details = "width= is before,after for each dimension, the first one "
                "first; a negative width crops. Errors: not two widths a "
                "dimension; more cropped than there is; a value that an "
                "integer dtype does not hold.",
     .source = "numpy.pad; negative widths as torch.nn.functional.pad",
     .example = "x = tensor f32[2] 1 2\n"
                "y = pad x width=1,2 value=9\n"
                "print y\n"
                "=> y = tensor f32[5] 9 1 2 9 9",
     .linearity = pad_linearity},
};

}  // namespace

constinit const Family kLayout{
    "layout", "The same elements in another shape or order.", kLayoutRows};

}  // namespace gt
