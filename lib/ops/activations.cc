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
     .gradient = "dx = tanh_grad dy y",
     .flops = 10,
     .sense = "Hyperbolic tangent.",
     .details = "Integers give f32.",
     .source = "torch.tanh",
     .example = "x = tensor f32[3] -inf 0 inf\n"
                "y = tanh x\n"
                "print y\n"
                "=> y = tensor f32[3] -1 0 1"},
    {.signature = "z = tanh_grad g y",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = tanh_grad dz y
       t = mul dz g
       u = mul t y
       dy = mul u -2)",
     .expansion = R"(
       t = mul y y
       u = sub 1 t
       z = mul g u)",
     .in_f32 = true,
     .flops = 3,
     .sense = "Gradient of tanh from its result: g (1 - y^2).",
     .source = "PyTorch's tanh_backward",
     .internal = true},
    {.signature = "y = sigmoid x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = sigmoid_grad dy y",
     .expansion = R"(
       t = mul x -1.0
       e = exp t
       s = add e 1
       y = div 1 s)",
     .in_f32 = true,
     .flops = 10,
     .sense = "1 / (1 + exp(-x)).",
     .details = "Integers give f32.",
     .source = "torch.sigmoid; of half of x, times the other half, "
               "torch.nn.functional.glu",
     .example = "x = tensor f32[3] -inf 0 inf\n"
                "y = sigmoid x\n"
                "print y\n"
                "=> y = tensor f32[3] 0 0.5 1"},
    {.signature = "z = sigmoid_grad g y",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = sigmoid_grad dz y
       t = mul y 2
       u = sub 1 t
       v = mul dz g
       dy = mul v u)",
     .expansion = R"(
       t = sub 1 y
       u = mul g t
       z = mul u y)",
     .in_f32 = true,
     .flops = 3,
     .sense = "Gradient of sigmoid from its result: g (1 - y) y.",
     .source = "PyTorch's sigmoid_backward",
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
     .expansion = R"(
       s = sigmoid x
       y = mul x s)",
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
     // With s = sigmoid x: f'' = s (1 - s) (2 + x (1 - 2 s)).
     .gradient = R"(
       dg = silu_grad dz x
       s = sigmoid x
       c = sub 1 s
       a = mul s c
       b = mul s -2
       e = add b 1
       f = mul x e
       h = add f 2
       k = mul a h
       t = mul dz g
       dx = mul t k)",
     .expansion = R"(
       s = sigmoid x
       c = sub 1 s
       t = mul x c
       u = add t 1
       v = mul s u
       z = mul g v)",
     .in_f32 = true,
     .flops = 15,
     .sense = "Gradient of silu: g s (1 + x (1 - s)), s = sigmoid x.",
     .source = "PyTorch's silu_backward",
     .internal = true},
    {.signature = "y = gelu x approximate=none",
     .index = kOneIndex,
     .accepts = "float",
     .gradient = "dx = gelu_grad dy x approximate={approximate}",
     // k (x + c x^3) with k = sqrt(2/pi), c = 0.044715.
     .expansion = R"(
       [approximate=none] s = mul x 0.7071067811865476
       [approximate=none] t = erf s
       [approximate=tanh] q = mul x x
       [approximate=tanh] r = mul q x
       [approximate=tanh] c = mul r 0.044715
       [approximate=tanh] s = add x c
       [approximate=tanh] k = mul s 0.7978845608028654
       [approximate=tanh] t = tanh k
       u = add t 1
       v = mul u 0.5
       y = mul x v)",
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
     // tanh: with T = tanh u, w = u', f' = (1 + T)/2 + x (1 - T^2) w/2,
     // f'' = (1 - T^2) (w + x u''/2 - x T w^2); u'' = 6 k c x.
     .gradient = R"(
       dg = gelu_grad dz x approximate={approximate}
       q = mul x x
       [approximate=none] h = mul q -0.5
       [approximate=none] e = exp h
       [approximate=none] p = mul e 0.3989422804014327
       [approximate=none] r = sub 2 q
       [approximate=none] f = mul p r
       [approximate=tanh] c = mul q 0.044715
       [approximate=tanh] s = add c 1
       [approximate=tanh] m = mul x s
       [approximate=tanh] u = mul m 0.7978845608028654
       [approximate=tanh] t = tanh u
       [approximate=tanh] b = mul q 0.10703222440890037
       [approximate=tanh] w = add b 0.7978845608028654
       [approximate=tanh] o = mul t t
       [approximate=tanh] a = sub 1 o
       [approximate=tanh] i = mul w w
       [approximate=tanh] j = mul i t
       [approximate=tanh] k = mul j x
       [approximate=tanh] l = add b w
       [approximate=tanh] n = sub l k
       [approximate=tanh] f = mul a n
       v = mul dz g
       dx = mul v f)",
     .expansion = R"(
       q = mul x x
       [approximate=none] s = mul x 0.7071067811865476
       [approximate=none] t = erf s
       [approximate=none] h = mul q -0.5
       [approximate=none] e = exp h
       [approximate=none] p = mul e 0.3989422804014327
       [approximate=tanh] c = mul q 0.044715
       [approximate=tanh] s = add c 1
       [approximate=tanh] m = mul x s
       [approximate=tanh] u = mul m 0.7978845608028654
       [approximate=tanh] t = tanh u
       [approximate=tanh] b = mul q 0.10703222440890037
       [approximate=tanh] w = add b 0.7978845608028654
       [approximate=tanh] o = mul t t
       [approximate=tanh] a = sub 1 o
       [approximate=tanh] d = mul a w
       [approximate=tanh] p = mul d 0.5
       i = add t 1
       j = mul i 0.5
       k = mul x p
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
     .gradient = R"(
       s = softplus x
       t = tanh s
       q = mul t t
       r = sub 1 q
       u = sigmoid x
       v = mul u r
       a = mul x v
       b = add t a
       dx = mul dy b)",
     .expansion = R"(
       s = softplus x
       t = tanh s
       y = mul x t)",
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
};

}  // namespace

constinit const Family kActivations{"activations", "Activation functions.",
                                    kActivationRows};

}  // namespace gt
