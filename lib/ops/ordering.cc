// Sorting along an axis. All ops here use argsort, whose order is stable.
#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_argsort(Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  call.results.push_back({Dtype::kI64, call.type(0).shape});
  return ok_status();
}

Status types_sort(Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  call.results.push_back(call.type(0));
  call.results.push_back({Dtype::kI64, call.type(0).shape});
  return ok_status();
}

Status types_topk(Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  const auto k = static_cast<size_t>(axis.value());
  Shape shape = call.type(0).shape;
  const int64_t size = call.integer("size");
  if (size < 0 || size > shape[k]) {
    return Error{"size " + std::to_string(size) + " is outside axis " +
                 std::to_string(k) + " of " + call.describe(0)};
  }
  shape[k] = size;
  call.results.push_back({call.type(0).dtype, shape});
  call.results.push_back({Dtype::kI64, shape});
  return ok_status();
}

// The placeholder of sort and topk. {rows}: the size of x along the axis.
std::string order_word(const Call& call, std::string_view name, size_t) {
  const Shape& x = call.type(0).shape;
  if (name != "rows") return "";
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  return std::to_string(x.empty() ? 1 : x[axis]);
}

constexpr Row kOrderingRows[] = {
    {.signature = "i = argsort x axis=-1 descending=0",
     .index = "...r!->...r",
     .dtype = "i64",
     .types = types_argsort,
     .labels = labels_along_axis,
     .flops = 10,
     .sense = "The indices that sort x along an axis.",
     .details = "Equal elements keep their order, either way; nan counts as "
                "the largest. Errors: an axis that is not there.",
     .source = "torch.argsort with stable=True",
     .places = "axis descending",
     .example = "x = tensor f32[3] 3 1 2\n"
                "i = argsort x\n"
                "print i\n"
                "=> i = tensor i64[3] 1 2 0"},
    {.signature = "v i = sort x axis=-1 descending=0",
     .index = "...r!->...r,...r",
     .gradient = "dx = gather_grad dv i rows={rows} axis={axis}",
     .expansion = R"(
       i = argsort x axis={axis} descending={descending}
       v = gather x i axis={axis})",
     .types = types_sort,
     .labels = labels_along_axis,
     .placeholder = order_word,
     .flops = 10,
     .sense = "x sorted along an axis, and the indices that sort it.",
     .details = "Equal elements keep their order, either way; nan counts as "
                "the largest. Errors: an axis that is not there.",
     .source = "torch.sort with stable=True; the middle of it is "
               "torch.median, any part torch.quantile, numpy.percentile",
     .places = "axis descending",
     .example = "x = tensor f32[3] 3 1 2\n"
                "v i = sort x descending=1\n"
                "print v\n"
                "=> v = tensor f32[3] 3 2 1"},
    {.signature = "v i = topk x axis=-1 size=",
     .index = "...r!->...k,...k",
     .gradient = "dx = gather_grad dv i rows={rows} axis={axis}",
     .expansion = R"(
       s = argsort x axis={axis} descending=1
       i = slice s 0 axis={axis} size={size}
       v = gather x i axis={axis})",
     .types = types_topk,
     .labels = labels_along_axis,
     .placeholder = order_word,
     .flops = 10,
     .sense = "The size= largest along an axis, largest first, and their "
              "indices.",
     .details = "The first of equals first; nan counts as the largest. Errors: "
                "an axis that is not there, or shorter than size.",
     .source = "torch.topk",
     .places = "size axis",
     .example = "x = tensor f32[4] 3 1 4 2\n"
                "v i = topk x size=2\n"
                "print i\n"
                "=> i = tensor i64[2] 2 0"},
};

}  // namespace

constinit const Family kOrdering{"ordering", "Sorting along an axis.",
                                 kOrderingRows};

}  // namespace gt
