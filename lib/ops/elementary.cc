// Elementary functions and rounding, element by element, with PyTorch's dtypes.
#include "ops/families.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

constexpr Row kElementaryRows[] = {
    {.signature = "y = exp x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = mul dy y",
     .flops = 8,
     .sense = "e to the power x.",
     .details = "Integers give f32.",
     .source = "torch.exp",
     .example = "x = tensor f32[2] 0 -inf\n"
                "y = exp x\n"
                "print y\n"
                "=> y = tensor f32[2] 1 0"},
    {.signature = "y = expm1 x",
     .index = kOneIndex,
     .dtype = "float",
     // Not y + 1, which is 0 where y is -1 but for its last digit.
     .gradient = R"(
       t = exp x
       dx = mul dy t)",
     .flops = 9,
     .sense = "exp x - 1, exact near 0.",
     .details = "Integers give f32.",
     .source = "torch.expm1; below 0, with x above, torch.nn.functional.elu; "
               "scaled, torch.nn.functional.selu",
     .example = "x = tensor f32[2] 1e-20 -inf\n"
                "y = expm1 x\n"
                "print y\n"
                "=> y = tensor f32[2] 1e-20 -1"},
    {.signature = "y = log x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = div dy x",
     .flops = 8,
     .sense = "Natural logarithm.",
     .details = "Integers give f32; of 0, -inf; of less, nan.",
     .source = "torch.log; divided by log 2 it is torch.log2, by log 10 "
               "torch.log10; of x / (1 - x) it is torch.logit",
     .example = "x = tensor f32[2] 1 0\n"
                "y = log x\n"
                "print y\n"
                "=> y = tensor f32[2] 0 -inf"},
    {.signature = "y = log1p x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = R"(
       t = add x 1
       dx = div dy t)",
     .flops = 9,
     .sense = "Natural logarithm of 1 + x, exact near 0.",
     .details = "Integers give f32; of -1, -inf; of less, nan.",
     .source = "torch.log1p",
     .example = "x = tensor f32[2] 1e-20 -1\n"
                "y = log1p x\n"
                "print y\n"
                "=> y = tensor f32[2] 1e-20 -inf"},
    {.signature = "y = sqrt x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = R"(
       t = mul y 2
       dx = div dy t)",
     .flops = 4,
     .sense = "Square root.",
     .details = "Integers give f32; of less than 0, nan.",
     .source = "torch.sqrt",
     .example = "x = tensor f32[2] 4 9\n"
                "y = sqrt x\n"
                "print y\n"
                "=> y = tensor f32[2] 2 3"},
    {.signature = "y = rsqrt x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = rsqrt_grad dy x",
     .expansion = R"(
       t = sqrt x
       y = div 1 t)",
     .in_f32 = true,
     .flops = 5,
     .sense = "1 over the square root.",
     .details = "Integers give f32; of 0, inf.",
     .source = "torch.rsqrt",
     .example = "x = tensor f32[2] 4 16\n"
                "y = rsqrt x\n"
                "print y\n"
                "=> y = tensor f32[2] 0.5 0.25"},
    {.signature = "z = rsqrt_grad g x",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = rsqrt_grad dz x
       v = mul dz g
       w = rsqrt_grad v x
       t = div w x
       dx = mul t -1.5)",
     .expansion = R"(
       r = sqrt x
       t = div -0.5 x
       u = div t r
       z = mul g u)",
     .in_f32 = true,
     .flops = 8,
     .sense = "Gradient of rsqrt: -g / (2 x sqrt x).",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = sin x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = R"(
       t = cos x
       dx = mul dy t)",
     .flops = 10,
     .sense = "Sine of x in radians.",
     .details = "Integers give f32.",
     .source = "torch.sin; divided by cos it is torch.tan",
     .example = "x = tensor f32[1] 0\n"
                "y = sin x\n"
                "print y\n"
                "=> y = tensor f32[1] 0"},
    {.signature = "y = cos x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = R"(
       t = sin x
       u = mul dy t
       dx = neg u)",
     .flops = 10,
     .sense = "Cosine of x in radians.",
     .details = "Integers give f32.",
     .source = "torch.cos",
     .example = "x = tensor f32[1] 0\n"
                "y = cos x\n"
                "print y\n"
                "=> y = tensor f32[1] 1"},
    {.signature = "y = sinh x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = R"(
       t = cosh x
       dx = mul dy t)",
     .flops = 15,
     .sense = "Hyperbolic sine, exact near 0.",
     .details = "Integers give f32.",
     .source = "torch.sinh",
     .example = "x = tensor f32[3] 1e-20 1 inf\n"
                "y = sinh x\n"
                "print y\n"
                "=> y = tensor f32[3] 1e-20 1.1752012 inf"},
    {.signature = "y = cosh x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = R"(
       t = sinh x
       dx = mul dy t)",
     .flops = 15,
     .sense = "Hyperbolic cosine.",
     .details = "Integers give f32.",
     .source = "torch.cosh",
     .example = "x = tensor f32[2] 0 -inf\n"
                "y = cosh x\n"
                "print y\n"
                "=> y = tensor f32[2] 1 inf"},
    {.signature = "y = hypot a b",
     .index = kTwoIndex,
     .dtype = "float",
     .gradient = R"(
       da = hypot_grad dy a b
       db = hypot_grad dy b a)",
     .flops = 10,
     .sense = "The root of a a + b b, though squares overflow or vanish.",
     .details = "inf if either is infinite. The gradient at 0 and 0 is 0. "
                "Integers give f32.",
     .source = "torch.hypot",
     .example = "a = tensor f32[2] 3e30 0\n"
                "b = tensor f32[2] 4e30 1e-30\n"
                "y = hypot a b\n"
                "print y\n"
                "=> y = tensor f32[2] 5e+30 1e-30"},
    // A share of the larger size, and not of the hypotenuse, which may be out
    // of range.
    {.signature = "z = hypot_grad g a b",
     .index = "...,...,...->...",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = hypot_grad dz a b
       h = hypot a b
       c = eq h 0
       n = where c 1 h
       u = hypot_grad 1 a b
       v = hypot_grad 1 b a
       k = mul dz g
       p = mul k v
       q = div p n
       da = mul q v
       r = mul q u
       db = neg r)",
     .expansion = R"(
       k = abs a
       l = abs b
       m = maximum k l
       n = minimum k l
       c = eq m 0
       d = where c 1 m
       r = div n d
       q = mul r r
       s = add q 1
       t = sqrt s
       u = div a d
       v = div u t
       z = mul g v)",
     .in_f32 = true,
     .flops = 14,
     .sense = "Gradient of hypot by a: g a / hypot a b, 0 where both are 0.",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = logaddexp a b",
     .index = kTwoIndex,
     .accepts = "float",
     .gradient = R"(
       [half=1] p = cast a f32
       [half=1] q = cast b f32
       [half=0] p = copy a
       [half=0] q = copy b
       f = isfinite p
       i = not f
       e = eq p q
       c = and e i
       s = sub p q
       d = where c 0 s
       n = neg d
       t = sigmoid d
       u = sigmoid n
       da = mul dy t
       db = mul dy u)",
     .expansion = R"(
       m = maximum a b
       s = sub a b
       e = eq a b
       d = where e 0 s
       k = abs d
       n = neg k
       x = exp n
       l = log1p x
       y = add m l)",
     .in_f32 = true,
     .placeholder = half_word,
     .flops = 20,
     .sense = "The logarithm of exp a + exp b.",
     .details = "-inf if both are -inf. Near 0, where the larger operand and "
                "what the other adds to it cancel, digits are lost. Errors: "
                "integers, as in PyTorch.",
     .source = "torch.logaddexp",
     .example = "a = tensor f32[2] 1000 -inf\n"
                "b = tensor f32[2] 0 -inf\n"
                "y = logaddexp a b\n"
                "print y\n"
                "=> y = tensor f32[2] 1000 -inf"},
    {.signature = "y = atan x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = atan2_grad dy x 1",
     .expansion = "y = atan2 x 1",
     .flops = 15,
     .sense = "The angle, in radians, whose tangent is x.",
     .details = "From -pi/2 to pi/2. Integers give f32.",
     .source = "torch.atan, torch.arctan",
     .example = "x = tensor f32[2] 0 -inf\n"
                "y = atan x\n"
                "print y\n"
                "=> y = tensor f32[2] 0 -1.5707964"},
    {.signature = "y = atan2 a b",
     .index = kTwoIndex,
     .dtype = "float",
     .gradient = R"(
       da = atan2_grad dy a b
       v = atan2_grad dy b a
       db = neg v)",
     .flops = 16,
     .sense = "The angle, in radians, from the first axis to the point (b, a).",
     .details =
         "From -pi to pi, with the sign of a; of 0 and 0 it is 0, and so "
         "is the gradient, as in PyTorch. Of a and a b above 0 it is "
         "atan of a / b. Integers give f32.",
     .source = "torch.atan2, torch.arctan2; of x and sqrt of (1 - x) (1 + x) "
               "it is torch.asin, of that and x torch.acos; of both parts of a "
               "complex number torch.angle",
     .example = "a = tensor f32[2] 0 -1\n"
                "b = tensor f32[2] -1 0\n"
                "y = atan2 a b\n"
                "print y\n"
                "=> y = tensor f32[2] 3.1415927 -1.5707964"},
    // No square is taken: with m the larger and n the smaller of both sizes,
    // the divisor is m (m + n (n / m)).
    {.signature = "z = atan2_grad g a b",
     .index = "...,...,...->...",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = atan2_grad dz a b
       u = atan2_grad 1 a b
       v = atan2_grad 1 b a
       h = mul dz g
       p = mul h u
       q = mul p v
       da = mul q -2
       r = sub v u
       s = add v u
       t = mul h r
       db = mul t s)",
     .expansion = R"(
       k = abs a
       l = abs b
       h = maximum k l
       i = eq h 0
       m = where i 1 h
       n = minimum k l
       r = div n m
       s = mul n r
       d = add m s
       c = div b m
       e = div c d
       z = mul g e)",
     .in_f32 = true,
     .flops = 12,
     .sense = "Gradient of atan2 by a: g b / (a a + b b), 0 where both are "
              "0.",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = erf x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = "dx = erf_grad dy x",
     .flops = 15,
     .sense = "Error function.",
     .details = "Integers give f32.",
     .source = "torch.erf; Abramowitz and Stegun 7.1.1",
     .example = "x = tensor f32[3] -inf 0 inf\n"
                "y = erf x\n"
                "print y\n"
                "=> y = tensor f32[3] -1 0 1"},
    {.signature = "z = erf_grad g x",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = erf_grad dz x
       v = mul dz g
       w = erf_grad v x
       t = mul w x
       dx = mul t -2)",
     .expansion = R"(
       q = mul x x
       n = neg q
       e = exp n
       t = mul e 1.1283791670955126
       z = mul g t)",
     .in_f32 = true,
     .flops = 12,
     .sense = "Gradient of erf: g 2 exp(-x x) / sqrt(pi).",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = erfc x",
     .index = kOneIndex,
     .dtype = "float",
     .gradient = R"(
       t = erf_grad dy x
       dx = neg t)",
     .flops = 20,
     .sense = "1 - erf x, exact where erf x is near 1.",
     .details = "Integers give f32.",
     .source = "torch.erfc; Abramowitz and Stegun 7.1.2",
     .example = "x = tensor f64[3] -inf 0 inf\n"
                "y = erfc x\n"
                "print y\n"
                "=> y = tensor f64[3] 2 1 0"},
    {.signature = "y = floor x",
     .index = kOneIndex,
     .accepts = "number",
     .gradient = "dx = zeros {dx.type}",
     .sense = "The largest whole number that is not above x.",
     .details = "Integers stay as they are. Its gradient is zero. "
                "Errors: bool, as in PyTorch.",
     .source = "torch.floor; of abs x, times sign x, it is torch.trunc",
     .example = "x = tensor f32[3] -1.5 0.5 2\n"
                "y = floor x\n"
                "print y\n"
                "=> y = tensor f32[3] -2 0 2"},
    {.signature = "y = ceil x",
     .index = kOneIndex,
     .accepts = "number",
     .gradient = "dx = zeros {dx.type}",
     .sense = "The smallest whole number that is not below x.",
     .details = "Integers stay as they are. Its gradient is zero. "
                "Errors: bool, as in PyTorch.",
     .source = "torch.ceil",
     .example = "x = tensor f32[3] -1.5 0.5 2\n"
                "y = ceil x\n"
                "print y\n"
                "=> y = tensor f32[3] -1 1 2"},
    {.signature = "y = round x",
     .index = kOneIndex,
     .accepts = "number",
     .gradient = "dx = zeros {dx.type}",
     .sense = "The nearest whole number.",
     .details = "Of two that are equally near, the even one. Integers stay as "
                "they are. Its gradient is zero. "
                "Errors: bool, as in PyTorch.",
     .source = "torch.round; IEEE 754 roundToIntegralTiesToEven; numpy.rint",
     .example = "x = tensor f32[3] 0.5 1.5 2.6\n"
                "y = round x\n"
                "print y\n"
                "=> y = tensor f32[3] 0 2 3"},
};

}  // namespace

constinit const Family kElementary{
    "elementary", "Exponentials, logarithms, roots, angles and rounding.",
    kElementaryRows};

}  // namespace gt
