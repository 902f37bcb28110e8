// Softmax and its logarithm.
#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_softmax(Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  call.results.push_back(call.type(0));
  return ok_status();
}

Status types_softmax_grad(Call& call) {
  if (Status s = need_same_type(call, 0, 1); !s.ok()) return s;
  return types_softmax(call);
}

// The result of exp_sums has a first dimension of 2 instead of the axes.
Status types_exp_sums(Call& call) {
  if (Status s = types_reduced(call); !s.ok()) return s;
  Shape& shape = call.results[0].shape;
  if (Status s = need_rank(shape.size() + 1); !s.ok()) return s;
  shape.insert(0, 2);
  return ok_status();
}

// The placeholders of exp_others. {kept}: "1" if there are reduced dimensions
// that are kept.
std::string exp_others_word(const Call& call, std::string_view name,
                            size_t each) {
  if (name != "kept") return reduction_word(call, name, each);
  return call.flag("keepdims") && !call.type(0).shape.empty() ? "1" : "0";
}

std::vector<Label> labels_exp_sums(const Call& call) {
  std::vector<Label> labels = labels_summed(call);
  for (Label& label : labels) {
    if (label.results[0].is_there()) ++label.results[0].dim;
  }
  return labels;
}

constexpr Row kNetworkRows[] = {
    {.signature = "y = softmax x axis=-1",
     .index = "...c!->...c",
     .accepts = "float",
     .gradient = "dx = softmax_grad dy y axis={axis}",
     .expansion = R"(
       [x.elements=0] y = copy x
       [x.elements!=0] d = detach x
       [x.elements!=0] m = max d axis={axis} keepdims=1
       [x.elements!=0] c = sub x m
       [x.elements!=0] e = exp c
       [x.elements!=0] s = sum e axis={axis} keepdims=1
       [x.elements!=0] y = div e s)",
     .in_f32 = true,
     .types = types_softmax,
     .labels = labels_along_axis,
     .flops = 12,
     .sense = "exp x, scaled to sum to 1 along an axis.",
     .details =
         "The largest is subtracted first, so nothing overflows. f16 and "
         "bf16 are computed in f32. Errors: an axis that is not there; "
         "integers.",
     .source = "torch.softmax",
     .places = "axis",
     .example = "x = tensor f32[2] 5 5\n"
                "y = softmax x\n"
                "print y\n"
                "=> y = tensor f32[2] 0.5 0.5"},
    {.signature = "z = softmax_grad g y axis=-1",
     .index = "...c!,...c!->...c",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = softmax_grad dz y axis={axis}
       t = mul g y
       s = sum t axis={axis} keepdims=1
       u = mul dz y
       r = sum u axis={axis} keepdims=1
       p = sub g s
       q = mul dz p
       v = mul g r
       dy = sub q v)",
     .expansion = R"(
       t = mul g y
       s = sum t axis={axis} keepdims=1
       u = mul y s
       z = sub t u)",
     .in_f32 = true,
     .types = types_softmax_grad,
     .labels = labels_along_axis,
     .flops = 4,
     .sense = "Gradient of softmax from its result: y (g - sum(g y)).",
     .source = "PyTorch's softmax backward",
     .internal = true},
    {.signature = "y = log_softmax x axis=-1",
     .index = "...c!->...c",
     .accepts = "float",
     .gradient = "dx = log_softmax_grad dy y axis={axis}",
     .expansion = R"(
       [x.elements=0] y = copy x
       [x.elements!=0] m = max x axis={axis} keepdims=1
       [x.elements!=0] c = sub x m
       [x.elements!=0] o = exp_others c axis={axis} keepdims=1
       [x.elements!=0] l = log1p o
       [x.elements!=0] y = sub c l)",
     .in_f32 = true,
     .types = types_softmax,
     .labels = labels_along_axis,
     .flops = 12,
     .sense = "The logarithm of softmax.",
     .details = "Exact where softmax itself would round to 0 or to 1. f16 and "
                "bf16 are computed in f32. Errors: an axis that is not there; "
                "integers.",
     .source = "torch.log_softmax",
     .places = "axis",
     .example = "x = tensor f32[1] 5\n"
                "y = log_softmax x\n"
                "print y\n"
                "=> y = tensor f32[1] 0"},
    {.signature = "z = log_softmax_grad g y axis=-1",
     .index = "...c!,...c!->...c",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       e = exp y
       t = mul dz e
       s = sum t axis={axis} keepdims=1
       dg = sub dz s
       u = sum g axis={axis} keepdims=1
       v = mul t u
       dy = neg v)",
     .expansion = R"(
       s = sum g axis={axis} keepdims=1
       e = exp y
       t = mul e s
       z = sub g t)",
     .in_f32 = true,
     .types = types_softmax_grad,
     .labels = labels_along_axis,
     .flops = 12,
     .sense = "Gradient of log_softmax from its result: g - exp(y) sum(g).",
     .source = "PyTorch's log_softmax backward",
     .internal = true},
    // A sum of exponentials, the largest of which is 1, is 1 and a rest whose
    // digits are those of the logarithm of the sum. Added to 1 they would be
    // lost.
    {.signature = "y = exp_others x [axis=] keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     .gradient = R"(
       e = exp x
       [lift=1] t = unsqueeze dy axis={axes}
       [lift=0] t = copy dy
       dx = mul e t)",
     .expansion = R"(
       z = exp_sums x axis={axis}
       a = maximum z -1
       r = slice a 0
       k = slice a 1
       j = sub k 1
       t = add r j
       [kept=0] y = copy t
       [kept=1] y = unsqueeze t axis={axes})",
     .in_f32 = true,
     .types = types_reduced,
     .labels = labels_kept,
     .placeholder = exp_others_word,
     .flops = 10,
     .sense = "The sum of exponentials over axes, of which the largest is 1, "
              "without that one.",
     .source = "logsumexp",
     .internal = true,
     .reduction = Reduction::kOther},
    {.signature = "z = exp_sums x [axis=]",
     .accepts = "float",
     .gradient = R"(
       q = eq x 0
       e = exp x
       w = where q 0 e
       s = slice dz 0
       [lift=0] t = copy s
       [lift=1] t = unsqueeze s axis={axes}
       dx = mul w t)",
     .expansion = R"(
       e = exp x
       q = eq x 0
       w = where q 0 e
       c = cast q {x.dtype}
       s = sum w axis={axis}
       n = sum c axis={axis}
       k = minimum n 1
       o = sub n k
       r = add s o
       z = stack r k)",
     .in_f32 = true,
     .types = types_exp_sums,
     .labels = labels_exp_sums,
     .placeholder = reduction_word,
     .flops = 10,
     .sense = "Two parts of the sum of exponentials over axes: one of those "
              "that are 1, if there is one, is the second, and the others are "
              "the first.",
     .source = "logsumexp",
     .internal = true},
};

}  // namespace

constinit const Family kNetworks{"networks", "Softmax and its logarithm.",
                                 kNetworkRows};

}  // namespace gt
