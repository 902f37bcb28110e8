// Arithmetic, element by element, with PyTorch's dtypes and broadcasting
// throughout.
#include <cmath>

#include "ops/families.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

// The placeholders of pow. {case}: "0", "1", "2" or "literal" if the exponent
// is a number, "far" if that has no digit for 1 less, "tensor" if it is none;
// {less}: that number minus 1; {base}: "literal", "same", or "cast" if the base
// has another dtype than the result; {exponent}: so of the exponent; {log}: the
// logarithm of a literal base.
std::string pow_word(const Call& call, std::string_view name, size_t) {
  const Argument& a = call.arguments[0];
  const Argument& b = call.arguments[1];
  if (name == "case") {
    if (!b.literal) return "tensor";
    const double e = b.number.real;
    if (e == 0 || e == 1 || e == 2) return number_text(e);
    return std::abs(e) < 0x1p24 ? "literal" : "far";
  }
  if (name == "less") return number_text(b.number.real - 1);
  if (name == "base") {
    if (a.literal && a.number.real != 0) return "literal";
    return a.type.dtype == call.results[0].dtype ? "same" : "cast";
  }
  if (name == "exponent") {
    return !b.literal && b.type.dtype != call.results[0].dtype ? "cast"
                                                               : "same";
  }
  return name == "log" ? number_text(std::log(a.number.real)) : "";
}

constexpr Row kPointwiseRows[] = {
    {.signature = "y = add a b",
     .index = kTwoIndex,
     .linear = "01",
     .gradient = R"(
       da = copy dy
       db = copy dy)",
     .sense = "Sum.",
     .details = "Integers wrap; of bool, logical or.",
     .source = "torch.add; numpy.add; of a and the product of b - a and w it "
               "is torch.lerp",
     .example = "x = tensor f32[2] 1 2\n"
                "y = add x 0.5\n"
                "print y\n"
                "=> y = tensor f32[2] 1.5 2.5"},
    {.signature = "y = sub a b",
     .index = kTwoIndex,
     .linear = "01",
     .accepts = "number",
     .gradient = R"(
       da = copy dy
       db = neg dy)",
     .sense = "Difference.",
     .details = "Integers wrap. Errors: bool, as in PyTorch.",
     .source = "torch.sub; torch.subtract; of an axis but its first and but "
               "its last it is torch.diff",
     .example = "x = tensor f32[2,2] 1 2 3 4\n"
                "m = mean x axis=0\n"
                "y = sub x m\n"
                "print y\n"
                "=> y = tensor f32[2,2] -1 -1 1 1"},
    {.signature = "y = mul a b",
     .index = kTwoIndex,
     .linear = "0 1",
     .gradient = R"(
       da = mul dy b
       db = mul dy a)",
     .sense = "Product.",
     .details = "Integers wrap; of bool, logical and.",
     .source = "torch.mul; torch.multiply; x by itself is torch.square; of "
               "vectors, then sum, it is torch.dot, torch.inner, torch.vdot; "
               "of p "
               "and log p less x, for p above 0, it is "
               "torch.nn.functional.kl_div; of x and log y, for x other than "
               "0, torch.xlogy",
     .example = "x = tensor i32[3] 1 2 3\n"
                "y = mul x x\n"
                "print y\n"
                "=> y = tensor i32[3] 1 4 9"},
    {.signature = "y = div a b",
     .index = kTwoIndex,
     .linear = "0",
     .dtype = "float",
     .gradient = R"(
       da = div dy b
       t = div y b
       u = mul dy t
       db = neg u)",
     .sense = "Quotient.",
     .details = "Of integers, which are rounded to f32 first, f32. Division "
                "by zero gives inf or nan.",
     .source = "torch.div; torch.divide, torch.true_divide; 1 by x is "
               "torch.reciprocal; x by 1 + abs x is "
               "torch.nn.functional.softsign",
     .example = "x = tensor i64[3] 1 2 3\n"
                "y = div x 2\n"
                "print y\n"
                "=> y = tensor f32[3] 0.5 1 1.5",
     .divisor_operand = 1},
    {.signature = "y = pow a b",
     .index = kTwoIndex,
     .accepts = "number",
     .gradient = R"(
       [case=0] da = zeros {da.type}
       [case=1] da = copy dy
       [case=2] t = mul dy a
       [case=2] da = mul t 2
       [case=literal] t = pow a {less}
       [case=literal] u = mul t b
       [case=literal] da = mul dy u
       [case=tensor exponent=same] e = copy b
       [case=tensor exponent=cast] e = cast b {y.dtype}
       [case=tensor] da = pow_grad dy a e
       [case=far] da = pow_grad dy a b
       [base=literal] w = mul y {log}
       [base=literal] db = mul dy w
       [base=same] l = log a
       [base=cast] c = cast a {y.dtype}
       [base=cast] l = log c
       [base!=literal] w = mul y l
       [base!=literal] p = mul dy w
       [base!=literal] q = eq a 0
       [base!=literal] r = ge b 0
       [base!=literal] s = and q r
       [base!=literal] db = where s 0 p)",
     .placeholder = pow_word,
     .flops = 10,
     .sense = "a to the power b.",
     .details = "Integers wrap; of floats, within two units in the last place. "
                "Errors: bool; a negative exponent of integers fails when it "
                "is met.",
     .source = "torch.pow; numpy.power; pow 2 x is torch.exp2",
     .example = "x = tensor f32[3] 1 2 3\n"
                "y = pow x 2\n"
                "print y\n"
                "=> y = tensor f32[3] 1 4 9",
     .fails = "int"},
    {.signature = "y = ratio a b c",
     .index = "...,...,...->...",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       da = ratio dy b c
       t = ratio y b 1
       u = mul dy t
       db = neg u
       dc = ratio dy b a)",
     .expansion = R"(
       t = div a b
       y = mul t c)",
     .in_f32 = true,
     .flops = 2,
     .sense = "a / b * c.",
     .internal = true},
    // Where b is even, a to the power b - 1 has the sign of a, though b - 1 may
    // round to an even number.
    {.signature = "z = pow_grad g a b",
     .index = "...,...,...->...",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = pow_grad dz a b
       h = mul dz g
       e = sub b 1
       k = mul h b
       da = pow_grad k a e
       t = pow a e
       l = log a
       m = mul l b
       o = add m 1
       w = mul t o
       p = mul h w
       q = eq a 0
       r = ge e 0
       s = and q r
       db = where s 0 p)",
     .expansion = R"(
       e = sub b 1
       t = pow a e
       h = mul b 0.5
       f = floor h
       q = eq f h
       n = lt a 0
       r = and q n
       s = abs t
       o = neg s
       p = where r o t
       u = mul p b
       v = mul g u
       c = eq b 0
       z = where c 0 v)",
     .in_f32 = true,
     .flops = 16,
     .sense = "Gradient of pow by a: g b a^(b - 1), 0 where b is 0.",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = mod a b",
     .index = kTwoIndex,
     .accepts = "number",
     .gradient = R"(
       da = copy dy
       t = floordiv a b
       u = mul dy t
       db = neg u)",
     .flops = 4,
     .sense = "Remainder, with the sign of b.",
     .details = "a - b * floordiv a b. Errors: bool; an integer divided by "
                "zero fails when it is met.",
     .source = "torch.remainder; torch.fmod has the sign of a",
     .example = "x = tensor i64[3] -5 5 7\n"
                "y = mod x 3\n"
                "print y\n"
                "=> y = tensor i64[3] 1 2 1",
     .fails = "int"},
    {.signature = "y = floordiv a b",
     .index = kTwoIndex,
     .accepts = "number",
     .gradient = R"(
       da = zeros {da.type}
       db = zeros {db.type})",
     .flops = 4,
     .sense = "Quotient rounded down.",
     .details = "Of integers an integer. A quotient of floats with more digits "
                "than the dtype has may be off by one in the last place. Its "
                "gradient is zero. Errors: bool; an integer divided by zero "
                "fails when it is met.",
     .source = "torch.floor_divide",
     .example = "x = tensor i64[2] -5 5\n"
                "y = floordiv x 3\n"
                "print y\n"
                "=> y = tensor i64[2] -2 1",
     .fails = "int"},
    {.signature = "y = neg x",
     .index = kOneIndex,
     .linear = "0",
     .accepts = "number",
     .gradient = "dx = neg dy",
     .sense = "x with the other sign.",
     .details = "Integers wrap. Errors: bool, as in PyTorch.",
     .source = "torch.neg; torch.negative",
     .example = "x = tensor f32[2] 1 -2\n"
                "y = neg x\n"
                "print y\n"
                "=> y = tensor f32[2] -1 2"},
    {.signature = "y = abs x",
     .index = kOneIndex,
     .accepts = "number",
     .gradient = R"(
       t = sign x
       dx = mul dy t)",
     .sense = "Absolute value.",
     .details = "The gradient at 0 is 0. Errors: bool.",
     .source = "torch.abs; torch.absolute; numpy.fabs; the mean of abs of a "
               "difference is torch.nn.functional.l1_loss",
     .example = "x = tensor f32[2] 1 -2\n"
                "y = abs x\n"
                "print y\n"
                "=> y = tensor f32[2] 1 2"},
    {.signature = "y = sign x",
     .index = kOneIndex,
     .accepts = "number",
     .gradient = "dx = zeros {dx.type}",
     .sense = "-1, 0 or 1 as x is negative, zero or positive.",
     .details = "Of nan, 0. Its gradient is zero. Errors: bool.",
     .source = "torch.sign",
     .example = "x = tensor f32[3] -3 0 5\n"
                "y = sign x\n"
                "print y\n"
                "=> y = tensor f32[3] -1 0 1"},
    {.signature = "y = maximum a b",
     .index = kTwoIndex,
     .gradient = R"(
       da = maximum_grad dy a b
       db = maximum_grad dy b a)",
     .sense = "The larger of two.",
     .details = "nan if either is. Where both are equal, the gradient is split "
                "evenly.",
     .source = "torch.maximum; torch.max of two tensors; torch.clamp with "
               "min alone; of x and x by a slope below 1, "
               "torch.nn.functional.leaky_relu, torch.nn.functional.prelu",
     .example = "x = tensor f32[3] -1 0 1\n"
                "y = maximum x 0\n"
                "print y\n"
                "=> y = tensor f32[3] 0 0 1"},
    {.signature = "y = minimum a b",
     .index = kTwoIndex,
     .gradient = R"(
       da = maximum_grad dy b a
       db = maximum_grad dy a b)",
     .sense = "The smaller of two.",
     .details = "nan if either is. Where both are equal, the gradient is split "
                "evenly.",
     .source = "torch.minimum; torch.min of two tensors; torch.clamp with "
               "max alone",
     .example = "x = tensor f32[3] -1 0 1\n"
                "y = minimum x 0\n"
                "print y\n"
                "=> y = tensor f32[3] -1 0 0"},
    {.signature = "z = maximum_grad g a b",
     .index = "...,...,...->...",
     .linear = "0",
     .dtype = "first",
     .gradient = "dg = maximum_grad dz a b",
     .non_differentiable = "a b",
     .expansion = R"(
       h = mul g 0.5
       e = eq a b
       t = where e h g
       l = lt a b
       z = where l 0 t)",
     .flops = 3,
     .sense = "The share of gradient g that a gets of maximum a b.",
     .details = "All where a is larger, half where both are equal. With a and "
                "b exchanged, that of b, and of minimum's a.",
     .source = "PyTorch's convention for ties",
     .example = "",
     .internal = true},
    {.signature = "y = copy x",
     .index = kOneIndex,
     .linear = "0",
     .gradient = "dx = copy dy",
     .types = types_as_first,
     .flops = 0,
     .sense = "A second name for one value.",
     .details = "Moves nothing unless it is placed on other ranks.",
     .source = "torch.Tensor.view_as; torch.clone; torch.Tensor.contiguous",
     .example = "x = tensor f32[2] 1 2\n"
                "y = copy x\n"
                "print y\n"
                "=> y = tensor f32[2] 1 2",
     .alias = true,
     .lineage = Lineage::kSame,
     .collective = Collective::kCopy},
    {.signature = "y = detach x",
     .index = kOneIndex,
     .linear = "0",
     .leaf = true,
     .types = types_as_first,
     .flops = 0,
     .sense = "The value without its history.",
     .details = "A leaf: no gradient passes.",
     .source = "torch.Tensor.detach; torch.no_grad for one value",
     .example = "x = tensor f32[2] 1 2\n"
                "d = detach x\n"
                "y = mul x d\n"
                "l = sum y\n"
                "g = grad l x\n"
                "print g\n"
                "=> g = tensor f32[2] 1 2",
     .alias = true,
     .lineage = Lineage::kSame,
     .stops_gradient = true},
};

}  // namespace

constinit const Family kPointwise{"point-wise", "Arithmetic of each element.",
                                  kPointwiseRows};

}  // namespace gt
