// Sums and other reductions over axes, and running sums. Float sums accumulate
// in f32 or wider, integers in i64.
#include <algorithm>

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Dtype sum_dtype(Dtype d) { return is_float(d) ? d : Dtype::kI64; }

Status types_sum(Call& call) {
  return types_reduced(call, sum_dtype(call.type(0).dtype));
}

Status types_bool(Call& call) { return types_reduced(call, Dtype::kBool); }

Status types_extreme(Call& call) {
  if (Status s = need_elements(call); !s.ok()) return s;
  return types_reduced(call);
}

Status types_arg(Call& call) {
  if (call.integers("axis").size() > 1) {
    return Error{"key axis must be one dimension, or absent for all"};
  }
  if (Status s = need_elements(call); !s.ok()) return s;
  return types_reduced(call, Dtype::kI64);
}

Status types_cumsum(Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  call.results.push_back({sum_dtype(call.type(0).dtype), call.type(0).shape});
  return ok_status();
}

// The placeholders of prod_grad. {wide}: the dtype that is computed in; {least}
// {most}: the sizes of products whose digits are all there. For the second
// derivative of prod, x is laid out as [rows, count]: {order} brings the
// reduced axes last, {inverse} undoes it, {ordered} is the shape in that order.
std::string prod_word(const Call& call, std::string_view name, size_t each) {
  const Shape& shape = call.type(1).shape;
  const bool doubles = wide_dtype(call.type(1).dtype) == Dtype::kF64;
  if (name == "wide") return doubles ? "f64" : "f32";
  if (name == "least") return doubles ? "1e-290" : "1e-30";
  if (name == "most") return doubles ? "1e290" : "1e30";
  const std::vector<int64_t> axes = axis_list(call, 1).value();
  std::vector<int64_t> order;
  int64_t rows = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) ==
        axes.end()) {
      order.push_back(static_cast<int64_t>(i));
      rows *= shape[i];
    }
  }
  order.insert(order.end(), axes.begin(), axes.end());
  if (name == "rows") return std::to_string(rows);
  if (name == "order") return list_text(order);
  std::vector<int64_t> inverse(order.size()), ordered;
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    ordered.push_back(shape[static_cast<size_t>(order[i])]);
  }
  if (name == "inverse") return list_text(inverse);
  if (name == "ordered") return list_text(ordered);
  return reduction_word(call, name, each);
}

constexpr Row kReductionRows[] = {
    {.signature = "y = sum x [axis=] keepdims=0",
     .index = kReduceIndex,
     .linear = "0",
     .dtype = "sum",
     .gradient = R"(
       [lift=1] t = unsqueeze dy axis={axes}
       [lift=1] dx = expand t shape={x.shape}
       [lift=0] dx = expand dy shape={x.shape})",
     .types = types_sum,
     .labels = labels_summed,
     .placeholder = reduction_word,
     .sense = "Sum over axes.",
     .details = "All axes unless axis= names some; they are dropped, or kept "
                "with size 1 by keepdims=1. Integers and bool give i64. Of "
                "nothing, 0. Errors: an axis that is not there, or twice.",
     .source = "torch.sum; of ne x 0 it is torch.count_nonzero",
     .places = "axis keepdims",
     .example = "x = tensor f32[2,2] 1 2 3 4\n"
                "y = sum x axis=0\n"
                "print y\n"
                "=> y = tensor f32[2] 4 6",
     .reduction = Reduction::kSum},
    {.signature = "y = max x [axis=] keepdims=0",
     .index = kReduceIndex,
     .gradient = "dx = max_grad dy x y axis={axis} keepdims={keepdims}",
     .types = types_extreme,
     .labels = labels_extreme,
     .placeholder = reduction_word,
     .sense = "The largest over axes.",
     .details = "Axes as sum. nan if any is, and then so are the gradients. "
                "Elements that share the largest value share its gradient "
                "evenly. Errors: nothing to choose "
                "from.",
     .source = "torch.amax",
     .places = "axis keepdims",
     .example = "x = tensor f32[2,2] 1 2 4 3\n"
                "y = max x axis=1\n"
                "print y\n"
                "=> y = tensor f32[2] 2 4",
     .reduction = Reduction::kMax},
    {.signature = "y = min x [axis=] keepdims=0",
     .index = kReduceIndex,
     .gradient = "dx = max_grad dy x y axis={axis} keepdims={keepdims}",
     .types = types_extreme,
     .labels = labels_extreme,
     .placeholder = reduction_word,
     .sense = "The smallest over axes.",
     .details = "Axes as sum. nan if any is, and then so are the gradients. "
                "Elements that share the smallest value share its gradient "
                "evenly. Errors: nothing to choose "
                "from.",
     .source = "torch.amin",
     .places = "axis keepdims",
     .example = "x = tensor f32[2,2] 1 2 4 3\n"
                "y = min x axis=1\n"
                "print y\n"
                "=> y = tensor f32[2] 1 3",
     .reduction = Reduction::kMin},
    {.signature = "z = max_grad g x y [axis=] keepdims=0",
     .index = "...,...r,...->...r",
     .linear = "0",
     .accepts = "float,any,any",
     .gradient = R"(
       [lift=1] k = unsqueeze y axis={axes}
       [lift=0] k = copy y
       m = eq x k
       n = sum m axis={axis} keepdims=1
       q = div dz n
       p = where m q 0
       dg = sum p axis={axis} keepdims={keepdims})",
     .non_differentiable = "x y",
     .expansion = R"(
       [lift=1] k = unsqueeze y axis={axes}
       [lift=1] h = unsqueeze g axis={axes}
       [lift=0] k = copy y
       [lift=0] h = copy g
       m = eq x k
       n = sum m axis={axis} keepdims=1
       q = div h n
       w = cast m {x.dtype}
       z = mul q w)",
     .in_f32 = true,
     .types = types_reduced_grad,
     .labels = labels_kept,
     .placeholder = reduction_word,
     .flops = 3,
     .sense = "Gradient of max and min: g shared by the elements equal to y.",
     .source = "PyTorch's amax backward",
     .internal = true},
    {.signature = "y = prod x [axis=] keepdims=0",
     .index = kReduceIndex,
     .dtype = "sum",
     .gradient = "dx = prod_grad dy x axis={axis} keepdims={keepdims}",
     .types = types_sum,
     .labels = labels_kept,
     .placeholder = reduction_word,
     .sense = "Product over axes.",
     .details = "Axes as sum. Integers and bool give i64. Of nothing, 1. The "
                "gradient is right at zeros too.",
     .source = "torch.prod",
     .places = "axis keepdims",
     .example = "x = tensor i64[4] 1 2 3 4\n"
                "y = prod x\n"
                "print y\n"
                "=> y = tensor i64[] 24",
     .reduction = Reduction::kOther},
    {.signature = "z = prod_grad g x [axis=] keepdims=0",
     .index = "...,...r->...r",
     .linear = "0",
     .accepts = "float",
     // The derivative of sum_i c_i prod_{k!=i} x_k with respect to x_j: row i
     // of a square holds x with 1 at i, so that prod_grad itself leaves two
     // factors out.
     .gradient = R"(
       o = ones {g.type}
       p = prod_grad o x axis={axis} keepdims={keepdims}
       q = mul dz p
       dg = sum q axis={axis} keepdims={keepdims}
       a = transpose x axes={order}
       b = reshape a shape={rows},1,{count}
       c = transpose dz axes={order}
       e = reshape c shape={rows},{count}
       f = reshape g shape={rows},1
       h = mul e f
       i = eye bool[{count},{count}]
       j = where i 1 b
       k = prod_grad h j axis=2
       l = where i 0 k
       m = sum l axis=1
       n = reshape m shape={ordered}
       dx = transpose n axes={inverse})",
     // The product of the others: that of the elements that are not zero, over
     // x, unless another element is zero. Where that product leaves the range,
     // the sum of the others' logarithms tells it.
     .expansion = R"(
       o = eq x 0
       w = where o 1 x
       p = prod w axis={axis} keepdims=1
       n = sum o axis={axis} keepdims=1
       k = eq n o
       q = div p w
       a = abs p
       b = clamp a {least} {most}
       c = eq a b
       d = cast w f64
       e = abs d
       f = log e
       i = sum f axis={axis} keepdims=1
       j = sub i f
       l = exp j
       s = sign w
       t = prod s axis={axis} keepdims=1
       u = mul t s
       v = mul l u
       m = cast v {wide}
       y = where c q m
       [lift=1] h = unsqueeze g axis={axes}
       [lift=0] h = copy g
       r = mul h y
       z = where k r 0)",
     .in_f32 = true,
     .types = types_reduced_grad,
     .labels = labels_kept,
     .placeholder = prod_word,
     .flops = 6,
     .sense = "Gradient of prod: g times the product of the other elements.",
     .source = "PyTorch's prod backward",
     .internal = true},
    {.signature = "y = any x [axis=] keepdims=0",
     .index = kReduceIndex,
     .dtype = "bool",
     .expansion = R"(
       [x.dtype=bool] t = copy x
       [x.dtype!=bool] t = ne x 0
       s = sum t axis={axis} keepdims={keepdims}
       y = ne s 0)",
     .types = types_bool,
     .labels = labels_kept,
     .sense = "Whether any element over axes is true.",
     .details = "Axes as sum; any dtype. Of nothing, false.",
     .source = "torch.any",
     .places = "axis keepdims",
     .example = "x = tensor bool[2,2] 0 0 0 1\n"
                "y = any x axis=1\n"
                "print y\n"
                "=> y = tensor bool[2] 0 1",
     .reduction = Reduction::kOther},
    {.signature = "y = all x [axis=] keepdims=0",
     .index = kReduceIndex,
     .dtype = "bool",
     .expansion = R"(
       [x.dtype=bool] t = not x
       [x.dtype!=bool] t = eq x 0
       s = sum t axis={axis} keepdims={keepdims}
       y = eq s 0)",
     .types = types_bool,
     .labels = labels_kept,
     .sense = "Whether every element over axes is true.",
     .details = "Axes as sum; any dtype. Of nothing, true.",
     .source = "torch.all",
     .places = "axis keepdims",
     .example = "x = tensor bool[2,2] 0 1 1 1\n"
                "y = all x axis=1\n"
                "print y\n"
                "=> y = tensor bool[2] 0 1",
     .reduction = Reduction::kOther},
    {.signature = "y = argmax x [axis=] keepdims=0",
     .index = "...r!->...",
     .dtype = "i64",
     .types = types_arg,
     .labels = labels_kept,
     .sense = "Index of the largest along an axis.",
     .details = "Of x as one row without axis=. The first of equals; nan is "
                "the largest. Errors: nothing to choose from; more than one "
                "axis.",
     .source = "torch.argmax; of log p less log of -log of rand it draws as "
               "torch.multinomial",
     .places = "axis keepdims",
     .example = "x = tensor f32[2,3] 1 3 2 6 5 4\n"
                "y = argmax x axis=1\n"
                "print y\n"
                "=> y = tensor i64[2] 1 0"},
    {.signature = "y = argmin x [axis=] keepdims=0",
     .index = "...r!->...",
     .dtype = "i64",
     .types = types_arg,
     .labels = labels_kept,
     .sense = "Index of the smallest along an axis.",
     .details = "Of x as one row without axis=. The first of equals; nan is "
                "the smallest. Errors: nothing to choose from; more than one "
                "axis.",
     .source = "torch.argmin",
     .places = "axis keepdims",
     .example = "x = tensor f32[2,3] 1 3 2 6 5 4\n"
                "y = argmin x axis=1\n"
                "print y\n"
                "=> y = tensor i64[2] 0 2"},
    {.signature = "y = cumsum x axis=",
     .index = "...r!->...r",
     .linear = "0",
     .dtype = "sum",
     .gradient = R"(
       t = flip dy axis={axis}
       s = cumsum t axis={axis}
       dx = flip s axis={axis})",
     .types = types_cumsum,
     .labels = labels_along_axis,
     .sense = "Running sum along an axis.",
     .details = "Integers and bool give i64. Errors: an axis that is not "
                "there.",
     .source = "torch.cumsum; of log x it is the log of torch.cumprod",
     .places = "axis",
     .example = "x = tensor i64[4] 1 2 3 4\n"
                "y = cumsum x axis=0\n"
                "print y\n"
                "=> y = tensor i64[4] 1 3 6 10"},
};

}  // namespace

constinit const Family kReductions{"reductions", "Sums and extremes over axes.",
                                   kReductionRows};

}  // namespace gt
