// Training steps. Their results are leaves: gradients stop here.
#include <algorithm>

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

// Checks that the first n operands are tensors of one type, and the others
// scalars.
Status check_update(const Call& call, size_t n) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.given(i)) continue;
    const Status s = i >= n                      ? need_scalar(call, i)
                     : call.arguments[i].literal ? need_name(call, i)
                                                 : need_same_type(call, 0, i);
    if (!s.ok()) return s;
  }
  return ok_status();
}

Status types_sgd(Call& call) {
  if (Status s = check_update(call, 3); !s.ok()) return s;
  const bool velocity = call.given(2);
  if (velocity != (call.result_count == 2)) {
    return Error{
        "the velocity is an operand and a result, or neither: w v = "
        "sgd w g v lr momentum=0.9"};
  }
  if (!velocity && call.number("momentum") != 0) {
    return Error{"momentum= needs a velocity: w v = sgd w g v lr momentum=" +
                 std::string(call.key("momentum"))};
  }
  call.results.assign(call.result_count, call.type(0));
  return ok_status();
}

Status types_adamw(Call& call) {
  call.results.assign(3, call.type(0));
  if (Status s = check_update(call, 4); !s.ok()) return s;
  const Argument& t = call.arguments[4];
  return need(
      !t.literal || t.number.real > 0,
      "t is the number of this step, from 1, got " + std::string(t.text));
}

// The placeholders of adamw. {beta1c} and {beta2c}: 1 minus the key.
std::string adamw_word(const Call& call, std::string_view name, size_t) {
  if (name == "beta1c") return number_text(1 - call.number("beta1"));
  return name == "beta2c" ? number_text(1 - call.number("beta2")) : "";
}

Status types_clip(Call& call) {
  const size_t n = call.arguments.size() - 1;
  if (call.result_count != n) {
    return Error{std::to_string(n) + " gradients give " + std::to_string(n) +
                 " results, not " + std::to_string(call.result_count) +
                 "; clamp bounds each element of one tensor"};
  }
  for (size_t i = 0; i < n; ++i) {
    if (Status s = need_name(call, i); !s.ok()) return s;
    call.results.push_back(call.type(i));
  }
  return need_scalar(call, n);
}

// The placeholder of clip. {scaled}: 1 if some gradient holds f64, else 0.
std::string clip_word(const Call& call, std::string_view name, size_t) {
  if (name != "scaled") return "";
  const auto is_double = [](const Type& t) { return t.dtype == Dtype::kF64; };
  return std::ranges::any_of(call.results, is_double) ? "1" : "0";
}

constexpr Row kOptimizerRows[] = {
    {.signature = "w [v] = sgd w g [v] lr momentum=0",
     .index = "...,...,...,->...,...",
     .accepts = "float,float,float,number",
     .leaf = true,
     // A scalar weight would get the dtype of a wider rate; hence the cast.
     .expansion = R"(
       [v] m = mul v {momentum}
       [v] =v = add m g
       [v] s = mul =v lr
       [!v] s = mul g lr
       [w.rank=0] t = sub w s
       [w.rank=0] =w = cast t {w.dtype}
       [w.rank!=0] =w = sub w s)",
     .in_f32 = true,
     .types = types_sgd,
     .flops = 4,
     .sense = "A step of stochastic gradient descent.",
     .details = "v = momentum * v + g; w = w - lr * v, or - lr * g without a "
                "velocity. w, g and v have one type; lr is a number or a "
                "scalar. Errors: types differ; a velocity that is only an "
                "operand or only a result; momentum without one.",
     .source = "torch.optim.SGD",
     .example = "w = tensor f32[2] 1 2\n"
                "g = tensor f32[2] 2 4\n"
                "w = sgd w g 0.5\n"
                "print w\n"
                "=> w = tensor f32[2] 0 0",
     .lineage = Lineage::kSame},
    {.signature = "w m v = adamw w g m v t lr beta1=0.9 beta2=0.999 eps=1e-8 "
                  "decay=0.01",
     .index = "...,...,...,...,,->...,...,...",
     .accepts = "float,float,float,float,number,number",
     // Values that depend on scalars alone are computed in f64, as PyTorch
     // does.
     .leaf = true,
     .expansion = R"(
       r = cast lr f64
       n0 = cast t f64
       n = step_number n0
       a = mul r {decay}
       b = sub 1 a
       c = mul w b
       d = mul m {beta1}
       e = mul g {beta1c}
       =m = add d e
       f = mul v {beta2}
       h = mul g {beta2c}
       i = mul h g
       =v = add f i
       j = pow {beta1} n
       k = sub 1 j
       l = pow {beta2} n
       o = sub 1 l
       p = sqrt o
       q = sqrt =v
       s = div q p
       u = add s {eps}
       x = div =m u
       y = div r k
       z = mul x y
       [w.rank=0] wide = sub c z
       [w.rank=0] =w = cast wide {w.dtype}
       [w.rank!=0] =w = sub c z)",
     .in_f32 = true,
     .types = types_adamw,
     .placeholder = adamw_word,
     .flops = 15,
     .sense = "A step of Adam with decoupled weight decay.",
     .details = "m and v are running means of g and its square, started as "
                "zeros; t is the number of this step, from 1; lr and t are "
                "numbers or scalars. w, g, m and v have one type. Errors: "
                "types differ; a t of 0 or less, which fails when it is met.",
     .source = "Loshchilov and Hutter, Decoupled weight decay "
               "regularization, ICLR 2019; torch.optim.AdamW; with decay=0 "
               "torch.optim.Adam",
     .example = "w = tensor f32[1] 1\n"
                "g = tensor f32[1] 4\n"
                "m = zeros f32[1]\n"
                "v = zeros f32[1]\n"
                "w m v = adamw w g m v 1 0.5 decay=0\n"
                "print m\n"
                "=> m = tensor f32[1] 0.4",
     .lineage = Lineage::kSame},
    {.signature = "y = step_number t",
     .index = "->",
     .accepts = "float",
     .leaf = true,
     .types = types_as_first,
     .flops = 0,
     .sense = "t itself, which must be the number of a step, from 1.",
     .internal = true,
     .lineage = Lineage::kSame},
    // A part of a gradient has another norm than the whole, so nothing may be
    // cut.
    {.signature = "g... = clip g... max",
     .index = "...,->...",
     .accepts = "float",
     .leaf = true,
     // Squares of all dtypes but f64 have room in f64. Beside an f64, each g is
     // divided by the sum of all sizes, a, and so are max and 1e-6.
     .expansion = R"(
       [scaled=1 each] w = cast g f64
       [scaled=1 each] h = abs w
       [scaled=1 each] i = sum h
       [scaled=1] j = stack i...
       [scaled=1] l = sum j
       [scaled=1] a = clamp l 2.2250738585072014e-308 1.7976931348623157e308
       [scaled=1 each] v = div w a
       [scaled=1 each] n = square_sum v
       [scaled=0 each] n = square_sum g
       s = stack n...
       t = sum s
       r = sqrt t
       [scaled=1] b = div 1e-6 a
       [scaled=1] e = add r b
       [scaled=0] e = add r 1e-6
       [scaled=1] d = div max a
       [scaled=0] d = cast max f64
       c = div d e
       k = minimum c 1
       [each g.rank=0] p = mul g k
       [each g.rank=0] =g = cast p {g.dtype}
       [each g.rank!=0] =g = mul g k)",
     .in_f32 = true,
     .types = types_clip,
     .labels = labels_none,
     .placeholder = clip_word,
     .flops = 3,
     .sense = "Gradients scaled down so that their common norm is at most "
              "max.",
     .details = "The factor is max / (norm + 1e-6), at most 1, where norm is "
                "that of all operands as one vector. As many results as "
                "gradients, of their types. Errors: other numbers of results; "
                "max is not a scalar.",
     .source = "Pascanu, Mikolov and Bengio, On the difficulty of training "
               "recurrent neural networks, ICML 2013; "
               "torch.nn.utils.clip_grad_norm_",
     .example = "g = tensor f32[2] 3 4\n"
                "g = clip g 10\n"
                "print g\n"
                "=> g = tensor f32[2] 3 4",
     .lineage = Lineage::kSame},
};

}  // namespace

constinit const Family kOptimizers{"optimizers", "Steps of training.",
                                   kOptimizerRows};

}  // namespace gt
