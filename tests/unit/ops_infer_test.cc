// Dtypes and shapes of results, and the messages if they do not fit.
#include <gtest/gtest.h>

#include "ops/call.h"
#include "ops_samples.h"

namespace gt {
namespace {

TEST(Promote, FollowsPyTorch) {
  // torch.promote_types gives these, in the order of Dtype.
  constexpr const char* kExpected[kDtypes][kDtypes] = {
      {"f32", "f64", "f32", "f32", "f32", "f32", "f32", "f32"},
      {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64"},
      {"f32", "f64", "f16", "f32", "f16", "f16", "f16", "f16"},
      {"f32", "f64", "f32", "bf16", "bf16", "bf16", "bf16", "bf16"},
      {"f32", "f64", "f16", "bf16", "i64", "i64", "i64", "i64"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "i32", "i32"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "u8", "u8"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "u8", "bool"},
  };
  for (size_t a = 0; a < kDtypes; ++a) {
    for (size_t b = 0; b < kDtypes; ++b) {
      EXPECT_EQ(
          to_string(promote(static_cast<Dtype>(a), static_cast<Dtype>(b))),
          kExpected[a][b])
          << a << " " << b;
    }
  }
}

std::string types_of(const char* line, const char* types) {
  Bound bound(line, parse_types(types));
  return bound.status().ok() ? bound.types() : bound.message();
}

// torch.result_type gives these for tensors with and without dimensions, and
// numbers.
TEST(Promote, ScalarsAndNumbersOnlyRaiseTheCategory) {
  EXPECT_EQ(types_of("y = add a b", "a f16[2] b f64[]"), "f16[2]");
  EXPECT_EQ(types_of("y = add a b", "a i32[2] b f64[]"), "f64[2]");
  EXPECT_EQ(types_of("y = add a b", "a i32[2] b i64[]"), "i32[2]");
  EXPECT_EQ(types_of("y = add a b", "a bool[2] b u8[]"), "u8[2]");
  EXPECT_EQ(types_of("y = add a b", "a f16[] b i64[2]"), "f16[2]");
  EXPECT_EQ(types_of("y = add a b", "a f32[] b f64[]"), "f64[]");
  EXPECT_EQ(types_of("y = add a 1", "a bool[2]"), "i64[2]");
  EXPECT_EQ(types_of("y = add a 1", "a u8[2]"), "u8[2]");
  EXPECT_EQ(types_of("y = add a 1.5", "a i64[2]"), "f32[2]");
  EXPECT_EQ(types_of("y = add a 1.5", "a f64[]"), "f64[]");
  EXPECT_EQ(types_of("y = add a true", "a bool[2]"), "bool[2]");
  EXPECT_EQ(types_of("y = add 1 2.5", ""), "f32[]");
  EXPECT_EQ(types_of("y = add 1 2", ""), "i64[]");
}

std::string joined(const Shape& a, const Shape& b) {
  const auto shape = broadcast(a, b);
  return shape ? "[" + to_string(*shape) + "]" : "no";
}

TEST(Broadcast, FollowsNumPy) {
  EXPECT_EQ(joined({}, {}), "[]");
  EXPECT_EQ(joined({}, {2, 3}), "[2,3]");
  EXPECT_EQ(joined({2, 1}, {1, 3}), "[2,3]");
  EXPECT_EQ(joined({3}, {2, 3}), "[2,3]");
  EXPECT_EQ(joined({4, 1, 3}, {2, 1}), "[4,2,3]");
  EXPECT_EQ(joined({0}, {1}), "[0]");
  EXPECT_EQ(joined({1, 3}, {0, 1}), "[0,3]");
  EXPECT_EQ(joined({2}, {3}), "no");
  EXPECT_EQ(joined({0}, {2}), "no");
  EXPECT_EQ(joined({2, 3}, {2}), "no");
}

TEST(Broadcast, OfAllSmallShapesIsSymmetric) {
  const std::vector<Shape> shapes = {{},     {0},    {1},    {2},    {0, 1},
                                     {1, 0}, {1, 2}, {2, 1}, {2, 2}, {1, 1, 2}};
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      const auto one = broadcast(a, b);
      const auto other = broadcast(b, a);
      ASSERT_EQ(one.has_value(), other.has_value());
      if (one) {
        EXPECT_EQ(*one, *other);
      }
    }
  }
}

TEST(Axis, CountsFromTheEnd) {
  EXPECT_EQ(normal_axis(0, 2), 0);
  EXPECT_EQ(normal_axis(-1, 2), 1);
  EXPECT_EQ(normal_axis(-2, 2), 0);
  EXPECT_EQ(normal_axis(2, 2), -1);
  EXPECT_EQ(normal_axis(-3, 2), -1);
  EXPECT_EQ(normal_axis(0, 0), -1);
}

TEST(Flops, CountTheIndexSpace) {
  const auto count = [](const char* line, const char* types) {
    Bound bound(line, parse_types(types));
    EXPECT_EQ(bound.message(), "");
    return flops(bound.call());
  };
  EXPECT_EQ(count("y = matmul a b", "a f32[2,3] b f32[3,4]"), 48);
  EXPECT_EQ(count("y = matmul a b ta=1 tb=1", "a f32[3,2] b f32[4,3]"), 48);
  EXPECT_EQ(count("y = matmul a b", "a f32[5,2,3] b f32[3,4]"), 240);
  EXPECT_EQ(count("y = add a b", "a f32[2,1] b f32[3]"), 6);
  EXPECT_EQ(count("y = sum x axis=0", "x f32[2,3]"), 6);
  EXPECT_EQ(count("y = reshape x shape=6", "x f32[2,3]"), 0);
  EXPECT_EQ(count("y = attention q k v heads=4",
                  "q f32[2,5,8] k f32[2,7,8] v f32[2,7,8]"),
            2 * 5 * 7 * 8 * 4);
  // The shape of lse is [batch,heads,rows].
  EXPECT_EQ(count("gq gk gv = attention_grad q k v o lse go heads=4",
                  "q f32[2,5,8] k f32[2,7,8] v f32[2,7,8] o f32[2,5,8] "
                  "lse f32[2,4,5] go f32[2,5,8]"),
            2 * 5 * 7 * 8 * 10);
  // Whatever the batch is, neither lse nor a mask adds to the index space: with
  // a batch of 1, or of as many rows as there are heads, their leading
  // dimensions would broadcast with those of q.
  for (const int batch : {1, 2, 4}) {
    const std::string b = std::to_string(batch);
    const std::string qkv = "q f32[" + b + ",5,8] k f32[" + b + ",7,8] v f32[" +
                            b + ",7,8] mask f32[4,5,7]";
    EXPECT_EQ(count("y = attention q k v mask heads=4", qkv.c_str()),
              batch * 5 * 7 * 8 * 4);
    const std::string backward = qkv + " o f32[" + b + ",5,8] lse f32[" + b +
                                 ",4,5] go f32[" + b + ",5,8]";
    EXPECT_EQ(count("gq gk gv = attention_grad q k v o lse go heads=4",
                    backward.c_str()),
              batch * 5 * 7 * 8 * 10);
  }
}

struct Mistake {
  const char* line;
  const char* types;
  size_t column;
  const char* message;
};

// For each message a line that causes it.
constexpr Mistake kMistakes[] = {
    // bind.cc
    {"y = matmull a b", "a f32[] b f32[]", 5,
     "unknown op 'matmull'; did you mean 'matmul'?"},
    {"y = frobnicate a", "a f32[]", 5,
     "unknown op 'frobnicate'; gt-emit --ops lists them"},
    {"y = add a", "a f32[]", 5,
     "add: takes 2 operands, got 1; usage: y = add a b"},
    {"y = linear a", "a f32[]", 5,
     "linear: takes 2 to 3 operands, got 1; usage: y = linear x w [b] [out=]"},
    {"y = concat", "", 5,
     "concat: takes at least 1 operand, got 0; usage: y = concat a... axis=0"},
    {"add a a", "a f32[]", 1, "add: takes 1 result, got 0; usage: y = add a b"},
    {"y z = add a a", "a f32[]", 7,
     "add: takes 1 result, got 2; usage: y = add a b"},
    {"y = add \"a\" 1", "", 9,
     "add: expected a tensor's name, got '\"a\"'; usage: y = add a b"},
    {"y = zeros x", "x f32[]", 11,
     "zeros: expected a type such as f32[128,64], got 'x'; usage: y = zeros "
     "type [split=] [part=]"},
    {"y = zeros f33[2]", "", 11,
     "zeros: unknown dtype 'f33'; known: f32 f64 f16 bf16 i64 i32 u8 bool"},
    {"y = zeros f32[-2]", "", 11, "zeros: size -2 is negative"},
    {"y = zeros f32[1152921504606846976]", "", 11,
     "zeros: f32[1152921504606846976] is too large: over 2^60 bytes"},
    {"y = cast x 3", "x f32[]", 12,
     "cast: expected a dtype such as f32, got '3'; usage: y = cast x dtype"},
    {"y = sum x axes=1", "x f32[2]", 11,
     "sum: no key 'axes'; did you mean 'axis'?"},
    {"y = add a a wibble=1", "a f32[]", 13,
     "add: no key 'wibble'; usage: y = add a b"},
    {"y = sum x axis=x", "x f32[2]", 11,
     "sum: key axis must be integers with commas, as 2,-1, got x"},
    {"y = sum x keepdims=2", "x f32[2]", 11,
     "sum: key keepdims must be 0 or 1, got 2"},
    {"y = mse x x reduction=avg", "x f32[2]", 13,
     "mse: key reduction must be one of mean sum none, got avg"},
    {"y = topk x", "x f32[2]", 5,
     "topk: takes 2 results, got 1; usage: v i = topk x axis=-1 size="},
    {"v i = topk x", "x f32[2]", 7,
     "topk: key size= is missing; usage: v i = topk x axis=-1 size="},
    // infer.cc
    {"y = matmul x w", "x f32[128,64] w f32[32,10]", 5,
     "matmul: x f32[128,64] and w f32[32,10]: inner sizes 64 and 32 differ"},
    {"y = matmul x w tb=1", "x f32[2,3] w f32[4,5]", 5,
     "matmul: x f32[2,3] and w f32[4,5]: inner sizes 3 and 5 differ"},
    {"y = matmul x w", "x f32[3] w f32[3,4]", 5,
     "matmul: x f32[3] must have at least 2 dimensions"},
    {"y = matmul x w", "x f32[2,2,3] w f32[4,3,5]", 5,
     "matmul: x f32[2,2,3] and w f32[4,3,5] do not broadcast"},
    {"y = matmul x x out=f16", "x f32[2,2]", 5,
     "matmul: out=f16 of operands in f32; it is their dtype, or f32 where that "
     "is f16 or bf16"},
    {"y = matmul x 2", "x f32[2,2]", 5,
     "matmul: expected a tensor's name, got number 2"},
    {"y = linear x w b", "x f32[2,3] w f32[3,4] b f32[5]", 5,
     "linear: w f32[3,4] and b f32[5]: sizes 4 and 5 differ"},
    {"y = add a b", "a f32[2,3] b f32[4]", 5,
     "add: a f32[2,3] and b f32[4] do not broadcast"},
    {"y = where c a b", "c bool[1] a f32[2] b f32[3]", 5,
     "where: a f32[2] and b f32[3] do not broadcast"},
    {"y = where x 1 2", "x f32[2]", 5,
     "where: x f32[2] must hold bool; cast it first"},
    {"y = sub a a", "a bool[2]", 5,
     "sub: a bool[2] must hold numbers, not bool; cast it first"},
    {"y = gelu x", "x i64[2]", 5,
     "gelu: x i64[2] must hold floats; cast it first"},
    {"y = embedding t i", "t f32[3,2] i f32[2]", 5,
     "embedding: i f32[2] must hold integers; cast it first"},
    {"y = embedding t 1.5", "t f32[3,2]", 5,
     "embedding: number 1.5 must hold integers; cast it first"},
    {"y = copy 3", "", 5, "copy: expected a tensor's name, got number 3"},
    {"y = reshape 3 shape=1", "", 5,
     "reshape: expected a tensor's name, got number 3"},
    // creation
    {"y = tensor f32[2] 1", "", 5, "tensor: f32[2] takes 2 values, got 1"},
    {"y = tensor f32[0] 1", "", 5, "tensor: f32[0] takes 0 values, got 1"},
    {"y = tensor i64[1] 1.5", "", 5, "tensor: 1.5 is not a value of i64"},
    {"y = tensor u8[1] 256", "", 5, "tensor: 256 does not fit into u8"},
    {"y = tensor bool[1] 2", "", 5, "tensor: 2 does not fit into bool"},
    {"y = full f32[2] v", "v f32[2]", 5,
     "full: v f32[2] must be a scalar or a number"},
    {"y = arange f32[2,2]", "", 5,
     "arange: f32[2,2] must have one dimension and hold numbers"},
    {"y = arange i64[2] 0.5", "", 5, "arange: number 0.5 must be an integer"},
    {"y = eye f32[2]", "", 5, "eye: f32[2] must have two dimensions"},
    {"y = randn f32[2]", "", 5,
     "randn: seed is missing; run this through gt-emit, or give one"},
    {"y = rand i64[2] 7", "", 5, "rand: i64[2] must hold floats"},
    {"y = rand f32[2] 0.5", "", 5, "rand: number 0.5 must be an integer"},
    {"y = randperm u8[257] 1", "", 5,
     "randperm: u8[257] cannot hold indices above 255"},
    {"y = load \"x.npy\"", "", 5,
     "load: type is missing; run this through gt-emit, which reads it from the "
     "file"},
    // reductions and order
    {"y = sum x axis=2", "x f32[2,3]", 5,
     "sum: axis 2 is not one of the 2 dimensions of x f32[2,3]"},
    {"y = sum x axis=0,-2", "x f32[2,3]", 5,
     "sum: axis 0,-2 names a dimension twice"},
    {"y = max x axis=1", "x f32[2,0]", 5,
     "max: x f32[2,0] has size 0 along axis 1"},
    {"y = argmax x axis=0,1", "x f32[2,3]", 5,
     "argmax: key axis must be one dimension, or absent for all"},
    {"y = norm x ord=3", "x f32[2]", 5,
     "norm: key ord must be 1, 2 or inf, got 3"},
    {"y = var x correction=nan", "x f32[2]", 5,
     "var: key correction must be a finite number, got nan"},
    {"y = var x correction=-inf", "x f32[2]", 5,
     "var: key correction must be a finite number, got -inf"},
    {"y = cumsum x axis=0,1", "x f32[2,3]", 5,
     "cumsum: key axis must be one dimension"},
    {"y = softmax x", "x f32[]", 5,
     "softmax: axis -1 is not one of the 0 dimensions of x f32[]"},
    {"v i = topk x size=4", "x f32[3]", 7,
     "topk: size 4 is outside axis 0 of x f32[3]"},
    // layout and indexing
    {"y = reshape x shape=4", "x f32[6]", 5,
     "reshape: x f32[6] cannot take shape 4: 6 elements are not 4"},
    {"y = reshape x shape=4,-1", "x f32[6]", 5,
     "reshape: x f32[6] cannot take shape 4,-1: 6 elements are no multiple of "
     "4"},
    {"y = reshape x shape=-1,-1", "x f32[6]", 5,
     "reshape: key shape may hold one -1 and no other negative size, got "
     "-1,-1"},
    {"y = unsqueeze x axis=3", "x f32[2]", 5,
     "unsqueeze: axis 3 is not one of the 2 dimensions of the result"},
    {"y = transpose x axes=0,0", "x f32[2,3]", 5,
     "transpose: axes 0,0 must name each dimension of x f32[2,3] once"},
    {"y = expand x shape=3,3", "x f32[2,1]", 5,
     "expand: x f32[2,1] does not expand to shape 3,3: only sizes of 1 and new "
     "leading ones can grow"},
    {"y = pad x width=1,1", "x f32[2,3]", 5,
     "pad: key width must be 4 lengths, before and after each dimension of x "
     "f32[2,3], got 2"},
    {"y = pad x width=-2,-1", "x f32[2]", 5,
     "pad: width -2,-1 crops more than axis 0 of x f32[2]"},
    {"y = slice x 0 0 0", "x f32[2,3]", 5,
     "slice: 3 ranges for the 2 dimensions of x f32[2,3]"},
    {"y = slice x 2", "x f32[2,3]", 5,
     "slice: index 2 is outside axis 0 of x f32[2,3]"},
    {"y = slice x ::-1", "x f32[2]", 5,
     "slice: step of range ::-1 must be positive; flip first"},
    {"y = slice x i", "x f32[2] i i64[]", 5,
     "slice: expected a range or an index, got i; a scalar's name takes axis= "
     "and size="},
    {"y = slice x 1 axis=0", "x f32[2]", 5,
     "slice: axis= and size= go together, with one start before them"},
    {"y = slice x 1 axis=0 size=2", "x f32[2]", 5,
     "slice: size 2 from 1 is outside axis 0 of x f32[2]"},
    {"y = concat a b", "a f32[2,3] b f32[2,4]", 5,
     "concat: a f32[2,3] and b f32[2,4] differ in more than axis 0"},
    {"y = stack a b", "a f32[2] b f32[3]", 5,
     "stack: a f32[2] and b f32[3] must have one shape"},
    {"a b = split x", "x f32[3]", 7,
     "split: axis 0 of x f32[3] has size 3, which 2 results do not divide; "
     "give sizes="},
    {"a b = split x sizes=1,1", "x f32[3]", 7,
     "split: axis 0 of x f32[3] has size 3: sizes=1,1 must be one length a "
     "result and sum to it"},
    {"y = gather x i", "x f32[3] i i64[2,2]", 5,
     "gather: i i64[2,2] must have as many dimensions as x f32[3] and be no "
     "larger except along axis 0"},
    {"y = scatter_add x i s", "x f32[3] i i64[2] s f64[2]", 5,
     "scatter_add: x f32[3] and s f64[2] must have one dtype"},
    {"y = scatter_add x i s", "x f32[3] i i64[2] s f32[3]", 5,
     "scatter_add: i i64[2] and s f32[3] must have one shape"},
    // networks and optimizers
    {"y = cross_entropy x t", "x f32[2,3] t i64[3]", 5,
     "cross_entropy: x f32[2,3] and t i64[3]: the logits need the classes' "
     "dimensions and one more for the classes"},
    {"y = cross_entropy x t out=f64", "x f16[2,3] t i64[2]", 5,
     "cross_entropy: out=f64 of operands in f16; it is their dtype, or f32 "
     "where that is f16 or bf16"},
    {"z = cross_entropy_grad g x t", "g f16[] x f32[2,3] t i64[2]", 5,
     "cross_entropy_grad: g f16[] must have the type f32[]"},
    {"y = mse x t", "x f32[2,1] t f32[2]", 5,
     "mse: x f32[2,1] and t f32[2] must have one shape"},
    {"w = sgd w g 0.1", "w f32[2] g f16[2]", 5,
     "sgd: w f32[2] and g f16[2] must have one type"},
    {"w = sgd w g 0.1 momentum=0.9", "w f32[2] g f32[2]", 5,
     "sgd: momentum= needs a velocity: w v = sgd w g v lr momentum=0.9"},
    {"w = sgd w g v 0.1", "w f32[2] g f32[2] v f32[2]", 5,
     "sgd: the velocity is an operand and a result, or neither: w v = sgd w g "
     "v lr momentum=0.9"},
    {"w = sgd w g lr", "w f32[2] g f32[2] lr f32[2]", 5,
     "sgd: lr f32[2] must be a scalar or a number"},
    {"a = clip a b 1.0", "a f32[2] b f32[2]", 5,
     "clip: 2 gradients give 2 results, not 1; clamp bounds each element of "
     "one tensor"},
    {"g = grad l w", "l f32[] w f32[2]", 5,
     "grad: run this through gt-emit, which writes the gradient's lines"},
};

TEST(Mistakes, AreSaidWithTheirColumn) {
  for (const Mistake& mistake : kMistakes) {
    Bound bound(mistake.line, parse_types(mistake.types));
    ASSERT_FALSE(bound.status().ok()) << mistake.line;
    EXPECT_EQ(bound.message(), mistake.message) << mistake.line;
    EXPECT_EQ(bound.error().column, mistake.column) << mistake.line;
  }
}

TEST(Bind, ReusesACallFromLineToLine) {
  const TypeMap types = parse_types("x f32[2,3] w f32[3,4]");
  Line line;
  Call call;
  const Type* const both[] = {&types.at("x"), &types.at("w")};
  ASSERT_TRUE(parse_line("y = matmul x w", line).ok());
  ASSERT_TRUE(gt::bind(line, both, call).ok());
  ASSERT_TRUE(parse_line("y = sum x axis=0", line).ok());
  ASSERT_TRUE(gt::bind(line, std::span(both, 1), call).ok());
  EXPECT_EQ(to_string(call.results.at(0)), "f32[3]");
  EXPECT_EQ(call.results.size(), 1U);
  EXPECT_EQ(call.arguments.size(), 1U);
}

TEST(Bind, AbsentOperandsKeepTheirPlace) {
  Bound bound("w = sgd w g 0.5", parse_types("w f32[2] g f32[2]"));
  ASSERT_EQ(bound.message(), "");
  ASSERT_EQ(bound.call().arguments.size(), 4U);
  EXPECT_TRUE(bound.call().arguments[2].absent);
  EXPECT_TRUE(bound.call().arguments[3].literal);
  EXPECT_EQ(bound.call().arguments[3].number.real, 0.5);
  EXPECT_EQ(bound.call().number("momentum"), 0);
}

}  // namespace
}  // namespace gt
