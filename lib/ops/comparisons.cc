// Comparisons, logic, choice and conversion, element by element.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ops/families.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Status types_cast(Call& call) {
  call.results.push_back({call.type(1).dtype, call.type(0).shape});
  return ok_status();
}

// Replaces a number beyond the range of a float dtype, which would be rounded
// to an infinity, by one that compares with all values of the dtype as it does.
void compare_beyond(const Call& call, Argument& a, Dtype dtype) {
  const double x = a.number.real;
  const auto [rounded, most] = with_element(dtype, [&]<typename T>() {
    using Pair = std::pair<double, double>;
    if constexpr (std::is_floating_point_v<T>) {
      return Pair(static_cast<T>(x), std::numeric_limits<T>::max());
    } else if constexpr (std::is_integral_v<T>) {
      return Pair(x, x);
    } else {
      const auto bits = T::from(static_cast<float>(kInf)).bits;
      const T largest{static_cast<uint16_t>(bits - 1)};
      return Pair(T::from(static_cast<float>(x)), largest);
    }
  });
  if (!std::isinf(rounded) || std::isinf(x)) return;
  const std::string& op = call.op->name;
  const bool is_left = &a == &call.arguments[0];
  double size = kInf;
  if (op == "eq" || op == "ne") {
    size = std::numeric_limits<double>::quiet_NaN();
  } else if ((op == "lt" || op == "ge") == (is_left != (x < 0))) {
    size = most;
  }
  a.number.kind = Number::Kind::kFloat;
  a.number.real = std::copysign(size, x);
  a.type.dtype = Dtype::kF64;
}

// Returns the integer by which integers compare as by x: the next one below or
// above, except that none is equal to a fraction.
std::optional<int64_t> integer_for(const Call& call, bool is_left, double x) {
  const std::string& op = call.op->name;
  if (op == "eq" || op == "ne") return as_integer(x);
  const bool above = (op == "lt" || op == "ge") != is_left;
  return as_integer(above ? std::ceil(x) : std::floor(x));
}

// Comparisons are by value, so a number beside a tensor of integers must not
// wrap or be rounded to the tensor's dtype. One that the dtype does not hold is
// compared as a float, and a float as an integer where the dtype holds one.
Status types_compared(Call& call) {
  if (Status s = infer_by_terms(call); !s.ok()) return s;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    Argument& a = call.arguments[i];
    const Argument& beside = call.arguments[1 - i];
    const Dtype dtype = beside.type.dtype;
    if (!a.literal || beside.literal) continue;
    if (is_float(dtype)) compare_beyond(call, a, dtype);
    if (!is_integer(dtype)) continue;
    using Kind = Number::Kind;
    if (is_beyond_64_bits(a)) {  // rounded, it may be one of the dtype's values
      a.number.real = std::copysign(kInf, a.number.real);
    }
    if (a.number.kind == Kind::kFloat) {
      const auto whole = integer_for(call, i == 0, a.number.real);
      if (!whole || !holds(dtype, *whole)) continue;
      a.number.integer = *whole;
      a.number.real = static_cast<double>(*whole);
    }
    const bool held = holds(dtype, a.number.integer);
    a.number.kind = held ? Kind::kInteger : Kind::kFloat;
    a.type.dtype = held ? Dtype::kI64 : Dtype::kF64;
  }
  return ok_status();
}

// Gives a literal bound of clamp that the dtype does not hold the dtype's own
// bound. One that would leave no value is an error.
Status bound_within(Call& call, size_t i, Dtype dtype, bool low) {
  // The text of an argument is a view, so the texts of all bounds are kept.
  static const auto texts = [] {
    std::array<std::array<std::string, 2>, kDtypes> out;
    for (size_t d = 0; d < kDtypes; ++d) {
      const auto of = static_cast<Dtype>(d);
      out[d] = {std::to_string(least_of(of)), std::to_string(greatest_of(of))};
    }
    return out;
  }();
  const int64_t least = least_of(dtype), greatest = greatest_of(dtype);
  if (low == (i == 2)) {
    return Error{call.describe(i) + " is " + (low ? "under" : "over") +
                 " what " + std::string(to_string(dtype)) + " holds, " +
                 std::to_string(least) + " to " + std::to_string(greatest) +
                 "; cast x to a dtype that holds it"};
  }
  Argument& a = call.arguments[i];
  a.number.kind = Number::Kind::kInteger;
  a.number.integer = low ? least : greatest;
  a.number.real = static_cast<double>(a.number.integer);
  a.text = texts[static_cast<size_t>(dtype)][low ? 0 : 1];
  a.type.dtype = Dtype::kI64;
  return ok_status();
}

// A literal bound that the dtype does not hold must neither wrap to another
// number nor make floats of integers.
Status types_clamp(Call& call) {
  const Dtype of_x = call.type(0).dtype;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const Argument& a = call.arguments[i];
    if (!is_integer(of_x) || !is_beyond_64_bits(a)) continue;
    if (Status s = bound_within(call, i, of_x, a.number.real < 0); !s.ok()) {
      return s;
    }
  }
  if (Status s = infer_by_terms(call); !s.ok()) return s;
  const Dtype dtype = call.results[0].dtype;
  if (is_float(dtype)) return ok_status();
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const Argument& a = call.arguments[i];
    const bool low = a.number.integer < least_of(dtype);
    if (!a.literal || (!low && a.number.integer <= greatest_of(dtype))) {
      continue;
    }
    if (Status s = bound_within(call, i, dtype, low); !s.ok()) return s;
  }
  return ok_status();
}

// The sum of rounded summands is not the rounded sum, so only casts of floats
// to floats count as linear.
Linearity cast_linearity(const Call& call) {
  return is_float(call.arguments[1].type.dtype) ? Linearity::kLinear
                                                : Linearity::kNone;
}

constexpr Row kComparisonRows[] = {
    {.signature = "y = eq a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .types = types_compared,
     .sense = "Whether a equals b.",
     .details = "nan equals nothing.",
     .source = "torch.eq; numpy.equal; eq of abs x and inf is torch.isinf",
     .example = "x = tensor f32[3] 1 2 nan\n"
                "y = eq x x\n"
                "print y\n"
                "=> y = tensor bool[3] 1 1 0"},
    {.signature = "y = ne a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .types = types_compared,
     .sense = "Whether a differs from b.",
     .details = "nan differs from everything.",
     .source = "torch.ne; torch.not_equal; of x and x it is torch.isnan",
     .example = "x = tensor f32[3] 1 2 nan\n"
                "y = ne x 1\n"
                "print y\n"
                "=> y = tensor bool[3] 0 1 1"},
    {.signature = "y = lt a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .types = types_compared,
     .sense = "Whether a is less than b.",
     .details = "False where either is nan.",
     .source = "torch.lt; torch.less; of rand and p it is torch.bernoulli; "
               "summed over a sorted axis it is torch.searchsorted, "
               "torch.bucketize",
     .example = "x = tensor f32[3] 1 2 3\n"
                "y = lt x 2\n"
                "print y\n"
                "=> y = tensor bool[3] 1 0 0"},
    {.signature = "y = le a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .types = types_compared,
     .sense = "Whether a is at most b.",
     .details = "False where either is nan.",
     .source = "torch.le; torch.less_equal",
     .example = "x = tensor f32[3] 1 2 3\n"
                "y = le x 2\n"
                "print y\n"
                "=> y = tensor bool[3] 1 1 0"},
    {.signature = "y = gt a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .types = types_compared,
     .sense = "Whether a is more than b.",
     .details = "False where either is nan.",
     .source = "torch.gt; torch.greater",
     .example = "x = tensor f32[3] 1 2 3\n"
                "y = gt x 2\n"
                "print y\n"
                "=> y = tensor bool[3] 0 0 1"},
    {.signature = "y = ge a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .types = types_compared,
     .sense = "Whether a is at least b.",
     .details = "False where either is nan.",
     .source = "torch.ge; torch.greater_equal",
     .example = "x = tensor f32[3] 1 2 3\n"
                "y = ge x 2\n"
                "print y\n"
                "=> y = tensor bool[3] 0 1 1"},
    {.signature = "y = and a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .sense = "Whether both are true.",
     .details = "Any dtype; what is not zero is true, nan too.",
     .source = "torch.logical_and",
     .example = "x = tensor bool[4] 0 0 1 1\n"
                "z = tensor bool[4] 0 1 0 1\n"
                "y = and x z\n"
                "print y\n"
                "=> y = tensor bool[4] 0 0 0 1"},
    {.signature = "y = or a b",
     .index = kTwoIndex,
     .dtype = "bool",
     .sense = "Whether either is true.",
     .details = "Any dtype; what is not zero is true, nan too.",
     .source = "torch.logical_or",
     .example = "x = tensor bool[4] 0 0 1 1\n"
                "z = tensor bool[4] 0 1 0 1\n"
                "y = or x z\n"
                "print y\n"
                "=> y = tensor bool[4] 0 1 1 1"},
    {.signature = "y = not x",
     .index = kOneIndex,
     .dtype = "bool",
     .sense = "Whether x is not true.",
     .details = "Any dtype; true where x is zero.",
     .source = "torch.logical_not",
     .example = "x = tensor f32[3] 0 1 -2\n"
                "y = not x\n"
                "print y\n"
                "=> y = tensor bool[3] 1 0 0"},
    {.signature = "y = isfinite x",
     .index = kOneIndex,
     .dtype = "bool",
     .sense = "Whether x is neither infinite nor nan.",
     .details = "True of every integer.",
     .source = "torch.isfinite",
     .example = "x = tensor f32[3] 1 inf nan\n"
                "y = isfinite x\n"
                "print y\n"
                "=> y = tensor bool[3] 1 0 0"},
    {.signature = "y = where c a b",
     .index = "...,...,...->...",
     .linear = "12",
     .accepts = "bool,any,any",
     .gradient = R"(
       da = where c dy 0
       db = where c 0 dy)",
     .sense = "a where c is true, else b.",
     .details = "a and b are promoted to one dtype. Errors: c is not bool.",
     .source = "torch.where; where m value x is torch.masked_fill; of ge of "
               "two aranges it is torch.tril, torch.triu; of isfinite, "
               "torch.nan_to_num",
     .example = "x = tensor f32[3] -1 2 -3\n"
                "c = lt x 0\n"
                "y = where c 0 x\n"
                "print y\n"
                "=> y = tensor f32[3] 0 2 0"},
    {.signature = "y = clamp x min max",
     .index = "...,...,...->...",
     .gradient = R"(
       dx = clamp_grad dy x min max
       p = le x min
       q = lt min max
       r = and p q
       dmin = where r dy 0
       s = ge x max
       t = lt max min
       u = or s t
       dmax = where u dy 0)",
     .expansion = R"(
       t = maximum x min
       y = minimum t max)",
     .types = types_clamp,
     .flops = 2,
     .sense = "x, but at least min and at most max.",
     .details =
         "max where min is larger; nan stays nan. The gradient at a bound "
         "is 0, and that of a bound. A number beyond what an integer dtype "
         "holds bounds nothing. Of one bound alone, maximum or minimum. "
         "Errors: min over, or max under, all that the dtype holds.",
     .source = "torch.clamp; numpy.clip; from 0 to 6 it is "
               "torch.nn.functional.relu6; from -1 to 1, "
               "torch.nn.functional.hardtanh; of x / 6 + 0.5 from 0 to 1, "
               "torch.nn.functional.hardsigmoid, which times x is "
               "torch.nn.functional.hardswish",
     .example = "x = tensor f32[3] -5 0.5 5\n"
                "y = clamp x -1 1\n"
                "print y\n"
                "=> y = tensor f32[3] -1 0.5 1"},
    {.signature = "z = clamp_grad g x lo hi",
     .index = "...,...,...,...->...",
     .linear = "0",
     .dtype = "first",
     .gradient = "dg = clamp_grad dz x lo hi",
     .non_differentiable = "x lo hi",
     .expansion = R"(
       p = gt x lo
       q = lt x hi
       r = and p q
       z = where r g 0)",
     .flops = 3,
     .sense = "Gradient g where x is between lo and hi, else 0.",
     .details = "The gradient of clamp by x.",
     .source = "PyTorch's convention at the bounds",
     .example = "",
     .internal = true},
    {.signature = "y = cast x dtype",
     .index = kOneIndex,
     .linear = "0",  // for operands that are floats
     .gradient = "dx = cast dy {x.dtype}",
     .types = types_cast,
     .sense = "x in another dtype.",
     .details = "Floats round to nearest even; float to integer drops the "
                "fraction and saturates, nan gives 0; integers wrap to smaller "
                "ones; to bool, whether it is not zero.",
     .source = "torch.Tensor.to; numpy.ndarray.astype; saturation as in "
               "WebAssembly's trunc_sat; by a type's name torch.Tensor.type; "
               "torch.Tensor.float; torch.Tensor.double; torch.Tensor.half; "
               "torch.Tensor.bfloat16; torch.Tensor.long; torch.Tensor.int",
     .example = "x = tensor f32[3] 1.5 -2.5 1e20\n"
                "y = cast x i32\n"
                "print y\n"
                "=> y = tensor i32[3] 1 -2 2147483647",
     .lineage = Lineage::kSame,
     .linearity = cast_linearity},
};

}  // namespace

constinit const Family kComparisons{
    "comparisons", "Comparisons, logic, choice and conversion.",
    kComparisonRows};

}  // namespace gt
