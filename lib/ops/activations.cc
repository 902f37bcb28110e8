// Activation functions and their fused gradients. An op named f_grad takes the
// gradient g of f's result and returns the gradient of f's operand. It has a
// gradient itself, so that grad of a grad works.
#include "ops/call.h"
#include "ops/families.h"

namespace gt {
namespace {

// The placeholder of softplus. {chosen}: 1 if the op must choose between x and
// the formula by threshold=; 0 if beyond it the formula gives x itself, with
// the slope 1, to the last digit.
std::string softplus_word(const Call& call, std::string_view name, size_t) {
  if (name != "chosen") return "";
  const bool exact = call.number("beta") == 1 &&
                     call.number("threshold") >= 17 &&
                     call.type(0).dtype != Dtype::kF64;
  return exact ? "0" : "1";
}

constexpr Row kActivationRows[] = {
    {.signature = "y = tanh x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = tanh_grad dy x",
     .flops = 10,
     .sense = "Hyperbolic tangent.",
     .details = "Integers give f32. The gradient reads x, as y alone cannot "
                "tell the digits of 1 - y^2: so x is kept for it.",
     .source = "torch.tanh",
     .example = "x = tensor f32[3] -inf 0 inf\n"
                "y = tanh x\n"
                "print y\n"
                "=> y = tensor f32[3] -1 0 1"},
    // Of x and not of y: 1 - y^2 has no digits left where y is nearly 1.
    {.signature = "z = tanh_grad g x",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = tanh_grad dz x
       v = mul dz g
       w = tanh_grad v x
       t = tanh x
       u = mul w t
       dx = mul u -2)",
     .expansion = R"(
       a = abs x
       n = mul a -2
       e = exp n
       d = add e 1
       q = mul d d
       h = mul e 4
       u = div h q
       z = mul g u)",
     .in_f32 = true,
     .flops = 14,
     .sense = "Gradient of tanh: g / cosh(x)^2, which is g 4 e / (1 + e)^2 "
              "with e = exp(-2 |x|).",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = sigmoid x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = sigmoid_grad dy x",
     // exp is never taken of a positive number, so that no small result is
     // lost.
     .expansion = R"(
       t = mul x -1.0
       a = abs t
       n = neg a
       e = exp n
       d = add e 1
       l = gt t 0
       s = where l e 1
       y = div s d)",
     .in_f32 = true,
     .flops = 10,
     .sense = "1 / (1 + exp(-x)).",
     .details = "Integers give f32. The gradient reads x, as y alone cannot "
                "tell the digits of 1 - y: so x is kept for it.",
     .source = "torch.sigmoid; of half of x, times the other half, "
               "torch.nn.functional.glu",
     .example = "x = tensor f32[3] -inf 0 inf\n"
                "y = sigmoid x\n"
                "print y\n"
                "=> y = tensor f32[3] 0 0.5 1"},
    {.signature = "z = sigmoid_grad g x",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = sigmoid_grad dz x
       v = mul dz g
       w = sigmoid_grad v x
       h = mul x 0.5
       t = tanh h
       u = mul w t
       dx = neg u)",
     .expansion = R"(
       a = abs x
       n = neg a
       e = exp n
       d = add e 1
       q = mul d d
       u = div e q
       z = mul g u)",
     .in_f32 = true,
     .flops = 13,
     .sense = "Gradient of sigmoid: g e / (1 + e)^2, e = exp(-|x|).",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = relu x",
     .index = kOneIndex,
     .accepts = "number",
     .gradient = "dx = relu_grad dy y",
     .expansion = "y = maximum x 0",
     .sense = "x where it is positive, else 0.",
     .details = "nan stays nan. The gradient at 0 is 0. Errors: bool.",
     .source = "Nair and Hinton, Rectified linear units improve restricted "
               "Boltzmann machines, ICML 2010; torch.relu",
     .example = "x = tensor f32[3] -1 0 2\n"
                "y = relu x\n"
                "print y\n"
                "=> y = tensor f32[3] 0 0 2"},
    {.signature = "z = relu_grad g y",
     .index = kTwoIndex,
     .linear = "0",
     .dtype = "first",
     .accepts = "float",
     .gradient = "dg = relu_grad dz y",
     .non_differentiable = "y",
     .expansion = R"(
       t = le y 0
       z = where t 0 g)",
     .sense = "Gradient of relu from its result: g, or 0 where y <= 0.",
     .source = "PyTorch's threshold_backward",
     .internal = true},
    {.signature = "y = silu x",
     .index = kOneIndex,
     .accepts = "float",
     .gradient = "dx = silu_grad dy x",
     // Far below 0 the result is 0, at -inf as well.
     .expansion = R"(
       s = sigmoid x
       c = maximum x -1000
       y = mul c s)",
     .in_f32 = true,
     .flops = 11,
     .sense = "x * sigmoid x, also called swish.",
     .details = "Errors: integers, as in PyTorch.",
     .source = "Elfwing, Uchibe and Doya, Sigmoid-weighted linear units, "
               "Neural Networks 107 (2018); jax.nn.swish",
     .example = "x = tensor f32[2] 0 100\n"
                "y = silu x\n"
                "print y\n"
                "=> y = tensor f32[2] 0 100"},
    {.signature = "z = silu_grad g x",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     // With s = sigmoid x: f'' = s' (2 - x tanh(x / 2)).
     .gradient = R"(
       dg = silu_grad dz x
       c = clamp x -1000 1000
       h = mul c 0.5
       t = tanh h
       a = mul c t
       k = sub 2 a
       v = mul dz g
       w = sigmoid_grad v c
       dx = mul w k)",
     .expansion = R"(
       c = clamp x -1000 1000
       s = sigmoid c
       d = sigmoid_grad 1 c
       t = mul c d
       u = add s t
       z = mul g u)",
     .in_f32 = true,
     .flops = 18,
     .sense = "Gradient of silu: g (s + x s'), s = sigmoid x.",
     .source = "PyTorch's silu_backward",
     .internal = true},
    {.signature = "y = gelu x approximate=none",
     .index = kOneIndex,
     .accepts = "float",
     .gradient = "dx = gelu_grad dy x approximate={approximate}",
     // The tails are kept: none is erfc(-x / sqrt 2) / 2, and tanh's (1 + tanh
     // u) / 2 is sigmoid(2 u), u = k (x + c x^3) with k = sqrt(2/pi), c =
     // 0.044715. Below -100 either is 0.
     .expansion = R"(
       m = maximum x -100
       [approximate=none] s = mul x -0.7071067811865476
       [approximate=none] t = erfc s
       [approximate=none] p = mul t 0.5
       [approximate=tanh] q = mul x x
       [approximate=tanh] r = mul q 0.044715
       [approximate=tanh] c = add r 1
       [approximate=tanh] s = mul x c
       [approximate=tanh] k = mul s 1.5957691216057308
       [approximate=tanh] p = sigmoid k
       y = mul m p)",
     .in_f32 = true,
     .flops = 20,
     .sense = "x times the normal distribution's share below x.",
     .details = "approximate=none uses erf, approximate=tanh the formula with "
                "tanh. Errors: integers, as in PyTorch.",
     .source = "Hendrycks and Gimpel, Gaussian error linear units, "
               "arXiv:1606.08415",
     .example = "x = tensor f32[3] -100 0 100\n"
                "y = gelu x\n"
                "print y\n"
                "=> y = tensor f32[3] -0 0 100"},
    {.signature = "z = gelu_grad g x approximate=none",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     // none: with p the normal density, f' = cdf + x p, f'' = p (2 - x^2).
     // tanh: with v = 2 u and s = sigmoid v, f' = s + x s' v', and
     // f'' = s' (2 v' + x v'' - x v'^2 tanh u).
     // Where |x| is above 100, both have the values that they have at 100.
     .gradient = R"(
       dg = gelu_grad dz x approximate={approximate}
       c = clamp x -100 100
       q = mul c c
       [approximate=none] h = mul q -0.5
       [approximate=none] e = exp h
       [approximate=none] p = mul e 0.3989422804014327
       [approximate=none] r = sub 2 q
       [approximate=none] f = mul p r
       [approximate=tanh] a = mul q 0.044715
       [approximate=tanh] b = add a 1
       [approximate=tanh] m = mul c b
       [approximate=tanh] u = mul m 0.7978845608028654
       [approximate=tanh] t = tanh u
       [approximate=tanh] n = mul q 0.21406444881780074
       [approximate=tanh] w = add n 1.5957691216057308
       [approximate=tanh] i = mul w w
       [approximate=tanh] j = mul i t
       [approximate=tanh] k = mul j c
       [approximate=tanh] l = add n w
       [approximate=tanh] o = mul l 2
       [approximate=tanh] s = sub o k
       [approximate=tanh] d = add u u
       [approximate=tanh] f = sigmoid_grad s d
       v = mul dz g
       dx = mul v f)",
     .expansion = R"(
       c = clamp x -100 100
       q = mul c c
       [approximate=none] s = mul c -0.7071067811865476
       [approximate=none] t = erfc s
       [approximate=none] j = mul t 0.5
       [approximate=none] h = mul q -0.5
       [approximate=none] e = exp h
       [approximate=none] p = mul e 0.3989422804014327
       [approximate=tanh] a = mul q 0.044715
       [approximate=tanh] b = add a 1
       [approximate=tanh] m = mul c b
       [approximate=tanh] u = mul m 1.5957691216057308
       [approximate=tanh] j = sigmoid u
       [approximate=tanh] n = mul q 0.21406444881780074
       [approximate=tanh] w = add n 1.5957691216057308
       [approximate=tanh] p = sigmoid_grad w u
       k = mul c p
       f = add j k
       z = mul g f)",
     .in_f32 = true,
     .flops = 30,
     .sense = "Gradient of gelu: g times its derivative at x.",
     .source = "PyTorch's gelu_backward",
     .internal = true},
    {.signature = "y = softplus x beta=1 threshold=20",
     .index = kOneIndex,
     .accepts = "float",
     .gradient = R"(
       [beta=1] t = copy x
       [beta!=1] t = mul x {beta}
       s = sigmoid t
       g = mul dy s
       [chosen=1] c = gt t {threshold}
       [chosen=1] dx = where c dy g
       [chosen=0] dx = copy g)",
     // exp is never taken of a positive number, so that nothing overflows.
     .expansion = R"(
       [beta=1] t = copy x
       [beta!=1] t = mul x {beta}
       a = abs t
       n = neg a
       e = exp n
       l = log1p e
       m = maximum t 0
       s = add m l
       [beta=1] q = copy s
       [beta!=1] q = div s {beta}
       [chosen=1] c = gt t {threshold}
       [chosen=1] y = where c x q
       [chosen=0] y = copy q)",
     .in_f32 = true,
     .placeholder = softplus_word,
     .flops = 20,
     .sense = "log(1 + exp(beta x)) / beta, a smooth relu.",
     .details = "x itself where beta x is above threshold. Errors: integers, "
                "as in PyTorch.",
     .source = "torch.nn.functional.softplus; with x negated, and the result, "
               "with threshold=40 for f64, torch.nn.functional.logsigmoid",
     .places = "beta threshold",
     .example = "x = tensor f32[2] -inf 50\n"
                "y = softplus x\n"
                "print y\n"
                "=> y = tensor f32[2] 0 50"},
    {.signature = "y = mish x",
     .index = kOneIndex,
     .accepts = "float",
     .gradient = "dx = mish_grad dy x",
     .expansion = R"(
       s = softplus x
       t = tanh s
       c = maximum x -1000
       y = mul c t)",
     .in_f32 = true,
     .flops = 24,
     .sense = "x * tanh(softplus x).",
     .details = "Errors: integers, as in PyTorch.",
     .source = "Misra, Mish: a self regularized non-monotonic activation "
               "function, BMVC 2020; torch.nn.functional.mish",
     .example = "x = tensor f32[2] 0 50\n"
                "y = mish x\n"
                "print y\n"
                "=> y = tensor f32[2] 0 50"},
    // With t = tanh(softplus x) and s = sigmoid x: t' = (1 - t^2) s, and
    // f'' = 2 t' + x ((1 - t^2) s' - 2 s t t').
    {.signature = "z = mish_grad g x",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = mish_grad dz x
       c = clamp x -1000 1000
       s = softplus c
       t = tanh s
       r = tanh_grad 1 s
       u = sigmoid c
       d = mul u r
       a = sigmoid_grad r c
       b = mul u t
       e = mul b d
       f = mul e -2
       h = add a f
       k = mul c h
       l = mul d 2
       m = add l k
       v = mul dz g
       dx = mul v m)",
     .expansion = R"(
       c = clamp x -1000 1000
       s = softplus c
       t = tanh s
       r = tanh_grad 1 s
       u = sigmoid c
       d = mul u r
       k = mul c d
       f = add t k
       z = mul g f)",
     .in_f32 = true,
     .flops = 30,
     .sense = "Gradient of mish: g times its derivative at x.",
     .source = "The chain rule",
     .internal = true},
};

}  // namespace

constinit const Family kActivations{"activations", "Activation functions.",
                                    kActivationRows};

}  // namespace gt
