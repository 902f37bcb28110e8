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
       [x.elements!=0] d = detach x
       [x.elements!=0] m = max d axis={axis} keepdims=1
       [x.elements!=0] c = sub x m
       [x.elements!=0] e = exp c
       [x.elements!=0] s = sum e axis={axis} keepdims=1
       [x.elements!=0] l = log s
       [x.elements!=0] y = sub c l)",
     .in_f32 = true,
     .types = types_softmax,
     .labels = labels_along_axis,
     .flops = 12,
     .sense = "The logarithm of softmax.",
     .details = "Exact where softmax itself would round to 0. f16 and bf16 are "
                "computed in f32. Errors: an axis that is not there; integers.",
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
};

}  // namespace

constinit const Family kNetworks{"networks", "Softmax and its logarithm.",
                                 kNetworkRows};

}  // namespace gt
