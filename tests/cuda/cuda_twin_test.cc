// The kernels of the CUDA backend, compiled for the host, are compared with the
// reference over the grid of all ops. This shows that the texts of the kernels
// compute what they should; it says nothing about a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gpu_case.h"
#include "kernels_grid.h"
#include "kernels_wrong.h"
#include "ops/table.h"
#include "twin_backend.h"

namespace gt::exec {
namespace {

// The cases whose kernels are compiled: of the grid, and of longer ones.
const std::vector<KernelCase>& compiled_cases() {
  static const auto cases = share_of(kernel_cases());
  return cases;
}
const std::vector<KernelCase>& compiled_long_cases() {
  static const auto cases = share_of(long_cases());
  return cases;
}

// Every value of f16 or bf16, x, and as many ones, g.
Tensors all_values(Dtype dtype) {
  constexpr int64_t kCount = int64_t{1} << 16;
  Tensor x(Type{dtype, {kCount}}), g(Type{dtype, {kCount}});
  for (int64_t i = 0; i < kCount; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    std::memcpy(x.data.data() + 2 * i, &bits, sizeof bits);
    g.set(i, 1);
  }
  return {{"x", std::move(x)}, {"g", std::move(g)}};
}

// Calls of all ops of one float tensor, point by point, and of the ops that are
// their gradients.
std::vector<std::string> unary_lines() {
  std::vector<std::string> lines;
  for (const Op& op : all_ops()) {
    const std::string_view index = op.row->index;
    const bool slope = op.name.ends_with("_grad") && op.operands.size() == 2 &&
                       op.operands[1].name == "x" && index == "...,...->...";
    const bool value = op.operands.size() == 1 && index == "...->..." &&
                       op.row->accepts != std::string_view("bool") &&
                       op.row->dtype != std::string_view("bool") &&
                       op.row->collective == Collective::kNone &&
                       !op.row->internal && !op.row->alias;
    if (!slope && !value) continue;
    const std::string line = "y = " + op.name + (slope ? " g x" : " x");
    lines.push_back(line);
    if (op.key_index("approximate") >= 0) {
      lines.push_back(line + " approximate=tanh");
    }
  }
  return lines;
}

// Calls in which squares or products leave the range, and their operands at
// this scale: x, half of it, t, a weight of each element, g, and of all, s.
constexpr const char* kScaledLines[] = {"y = norm x",
                                        "y = var x",
                                        "y = std x",
                                        "y = mean x",
                                        "y = prod x",
                                        "y = layer_norm x",
                                        "y = rms_norm x",
                                        "y = mse x t",
                                        "y = huber x t",
                                        "y = normalize x",
                                        "y = logsumexp x",
                                        "y = log_softmax x",
                                        "y = hypot_grad g x t",
                                        "y = layer_norm_grad g x",
                                        "y = rms_norm_grad g x",
                                        "y = prod_grad s x",
                                        "y = var_grad s x",
                                        "y = clip x 1"};
Tensors scaled_tensors(Dtype dtype, double scale) {
  constexpr double kEach[] = {3, -4, 1.5, 2, -0.75, 1, 2.5, -6};
  const Type type{dtype, {8}};
  Tensor x(type), t(type), g(type), s(Type{dtype, {}});
  for (int64_t i = 0; i < 8; ++i) {
    x.set(i, kEach[i] * scale);
    t.set(i, x.real(i) / 2);
    g.set(i, kEach[7 - i]);
  }
  s.set(0, 1);
  return {{"x", x}, {"t", t}, {"g", g}, {"s", s}};
}

// The kernels of all lines of these cases, compiled once for all tests.
TwinKernels& kernels() {
  static TwinKernels instance = [] {
    TwinKernels k;
    for (const bool fuses : {true, false}) {
      const auto collecting = make_collecting_backend(k, fuses);
      for_each_grid_line(
          [&](const GridLine& g) {
            (void)evaluate(*collecting, g.line, g.tensors);
          },
          compiled_cases());
    }
    const auto collecting = make_collecting_backend(k, true);
    for_each_grid_line(
        [&](const GridLine& g) {
          (void)evaluate(*collecting, g.line, g.tensors);
        },
        compiled_long_cases());
    for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16}) {
      const Tensors tensors = all_values(dtype);
      for (const std::string& line : unary_lines()) {
        (void)evaluate(*collecting, line, tensors);
      }
    }
    for (const char* dtype : kFloats) {
      const Tensors tensors = scaled_tensors(*parse_dtype(dtype), 1);
      for (const char* line : kScaledLines) {
        (void)evaluate(*collecting, line, tensors);
      }
    }
    return k;
  }();
  return instance;
}

TEST(CudaTwin, AgreesWithTheReference) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  for (const bool backwards : {false, true}) {
    run_backwards(backwards);
    for_each_case(
        [&](const KernelCase& c, const std::string& dtype) {
          check_case(gpu_case(c), dtype, *twin, *ref);
        },
        compiled_cases());
  }
}

TEST(CudaTwin, LongRowsAndColumnsAgreeWithTheReference) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  for_each_case(
      [&](const KernelCase& c, const std::string& dtype) {
        check_case(c, dtype, *twin, *ref);
      },
      compiled_long_cases());
}

// The reference is compared with the true values by tests/oracle/sweep.py.
TEST(CudaTwin, EveryValueOfHalvesIsWithinOneUnitOfTheReference) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  EXPECT_GT(unary_lines().size(), 30U);
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16}) {
    const Tensors tensors = all_values(dtype);
    for (const std::string& line : unary_lines()) {
      const auto y = evaluate(*twin, line, tensors);
      const auto w = evaluate(*ref, line, tensors);
      ASSERT_TRUE(y.ok() && w.ok()) << line;
      EXPECT_LE(distance(y.value()[0], w.value()[0], false), 1)
          << line << " of " << to_string(dtype);
    }
  }
}

// The reference is compared with the true values by tests/oracle/scales.py.
TEST(CudaTwin, SquaresAndProductsLeaveNoRange) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  for (const auto& [dtype, scale] :
       std::multimap<std::string, double>{{"f32", 1e30},
                                          {"f32", 1e-30},
                                          {"f64", 1e200},
                                          {"f64", 1e-200},
                                          {"bf16", 1e30},
                                          {"bf16", 1e-30},
                                          {"f16", 8000}}) {
    const Tensors tensors = scaled_tensors(*parse_dtype(dtype), scale);
    for (const char* line : kScaledLines) {
      const auto y = evaluate(*twin, line, tensors);
      const auto w = evaluate(*ref, line, tensors);
      ASSERT_TRUE(y.ok() && w.ok()) << line;
      EXPECT_LE(distance(y.value()[0], w.value()[0], true), 16)
          << line << " of " << dtype << " at " << scale;
    }
  }
}

TEST(CudaTwin, SumsOfTheLargestNumbersLeaveNoRange) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  for (const auto& [dtype, most] :
       std::map<std::string, double>{{"f32", 3e38}, {"f64", 1.5e308}}) {
    Tensors tensors = scaled_tensors(*parse_dtype(dtype), 1);
    for (int64_t i = 0; i < 8; ++i) {
      tensors.at("x").set(i, most * (1 - static_cast<double>(i) / 64));
    }
    for (const char* line :
         {"y = mean x", "y = layer_norm x", "y = rms_norm x",
          "y = layer_norm_grad g x", "y = normalize x", "y = huber x t"}) {
      const auto y = evaluate(*twin, line, tensors);
      const auto w = evaluate(*ref, line, tensors);
      ASSERT_TRUE(y.ok() && w.ok()) << line;
      EXPECT_TRUE(std::isfinite(w.value()[0].real(0))) << line;
      EXPECT_LE(distance(y.value()[0], w.value()[0], true), 16)
          << line << " of " << dtype;
    }
  }
}

// One element is so much larger that the others are lost beside its 1.
TEST(CudaTwin, TailsOfExponentialsAreKept) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  for (const char* dtype : kFloats) {
    Tensors tensors = scaled_tensors(*parse_dtype(dtype), 1);
    for (int64_t i = 0; i < 8; ++i) {
      tensors.at("x").set(i, i == 3 ? 0 : -40 - static_cast<double>(i));
    }
    for (const char* line : {"y = logsumexp x", "y = log_softmax x"}) {
      const auto y = evaluate(*twin, line, tensors);
      const auto w = evaluate(*ref, line, tensors);
      ASSERT_TRUE(y.ok() && w.ok()) << line;
      EXPECT_LE(distance(y.value()[0], w.value()[0], false), 16)
          << line << " of " << dtype;
    }
  }
}

// Every primitive has a plan in every dtype, since it has no expansion that
// could run in its place.
TEST(CudaTwin, EveryPrimitiveHasAPlan) {
  std::set<std::string> missing;
  for_each_grid_line([&](const GridLine& g) {
    TypeMap types;
    for (const auto& [name, t] : g.tensors) types[name] = t.type;
    Bound bound(g.line, types);
    if (!bound.status().ok()) return;
    const Op& op = *bound.call().op;
    if (!op.is_primitive() || op.row->alias) return;
    if (!cuda::plan_of(bound.call())) missing.insert(op.name + ": " + g.line);
  });
  EXPECT_EQ(missing, std::set<std::string>());
}

// Expects the same bits from both for each line.
void expect_same(const char* operands,
                 std::initializer_list<const char*> lines) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  const Tensors tensors = random_tensors(operands, {"f32", {}}, 9);
  for (const char* line : lines) {
    const auto y = evaluate(*twin, line, tensors);
    const auto w = evaluate(*ref, line, tensors);
    ASSERT_TRUE(y.ok() && w.ok()) << line;
    for (size_t r = 0; r < y.value().size(); ++r) {
      EXPECT_TRUE(same_bits(y.value()[r], w.value()[r])) << line;
    }
  }
}

// Fused kernels give the bits of the expansions that they replace.
TEST(CudaTwin, FusedKernelsHaveTheBitsOfUnfusedOnes) {
  const auto twin = make_twin_backend(kernels());
  const auto unfused = make_twin_backend(kernels(), false);
  const auto op_if_fused = [](const GridLine& g) -> std::string {
    TypeMap types;
    for (const auto& [name, t] : g.tensors) types[name] = t.type;
    Bound bound(g.line, types);
    if (!bound.status().ok() || cuda::own_plan(bound.call()) ||
        !cuda::plan_of(bound.call())) {
      return "";
    }
    return bound.call().op->name;
  };
  for_each_grid_line(
      [&](const GridLine& g) {
        if (op_if_fused(g).empty()) return;
        const auto y = evaluate(*twin, g.line, g.tensors);
        const auto w = evaluate(*unfused, g.line, g.tensors);
        ASSERT_TRUE(y.ok() && w.ok()) << g.line;
        for (size_t r = 0; r < y.value().size(); ++r) {
          EXPECT_TRUE(same_bits(y.value()[r], w.value()[r])) << g.line;
        }
      },
      compiled_cases());
  std::set<std::string> ops;
  for_each_grid_line([&](const GridLine& g) { ops.insert(op_if_fused(g)); });
  for (const char* op : {"bce", "dropout", "mse", "norm", "softplus", "var"}) {
    EXPECT_TRUE(ops.contains(op)) << op;
  }
}

TEST(CudaTwin, ComparesByValue) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  Tensors tensors;
  for (const char* line :
       {"i = tensor i64[6] 9223372036854775807 -9223372036854775808 "
        "9007199254740993 16777217 0 300",
        "d = tensor f64[6] 9223372036854775808 -9223372036854775808 "
        "9007199254740992 16777216.5 nan 300",
        "f = tensor f32[6] 9223372036854775808 -inf 9007199254740992 16777216 "
        "-0 300",
        "h = tensor f16[6] inf 65504 -inf nan 0.1 300",
        "k = tensor i32[6] 2147483647 -2147483648 16777217 16777216 0 300",
        "u = tensor u8[6] 255 0 44 200 1 2", "s = tensor i64[] 300"}) {
    auto made = evaluate(*ref, line, {});
    ASSERT_TRUE(made.ok()) << line;
    tensors[std::string(line, 1)] = std::move(made.value()[0]);
  }
  std::vector<std::string> lines;
  for (const char* op : {"eq", "lt", "ge"}) {
    for (const char* operands :
         {"i d", "d i", "i f", "i h", "k f", "f k", "u s", "i u", "k h",
          "i 16777216.5", "u 300", "-1 u", "u 200.00000001", "h 70000",
          "-1e9 h", "h 0.1", "f 1e39", "9223372036854775808 i"}) {
      lines.push_back(fmt::format("y = {} {}", op, operands));
    }
  }
  const auto collecting = make_collecting_backend(kernels(), true);
  for (const std::string& line : lines) {
    (void)evaluate(*collecting, line, tensors);  // compiled together
  }
  for (const std::string& line : lines) {
    const auto y = evaluate(*twin, line, tensors);
    const auto w = evaluate(*ref, line, tensors);
    ASSERT_TRUE(y.ok() && w.ok()) << line;
    EXPECT_TRUE(same_bits(y.value()[0], w.value()[0])) << line;
  }
}

// At an address where 16 bytes cannot be read at once, elements are read one by
// one.
TEST(CudaTwin, PointwiseKernelsTakeAnyAddress) {
  const auto twin = make_twin_backend(kernels());
  Bound bound("y = add a b", parse_types("a f32[103] b f32[103]"));
  ASSERT_TRUE(bound.status().ok());
  const auto kernel = twin->prepare(bound.call());
  alignas(16) std::array<float, 120> a, b, y;
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(i * i);
  }
  for (const size_t shift : {size_t{0}, size_t{1}, size_t{4}}) {
    for (const size_t to : {size_t{0}, size_t{3}}) {
      y.fill(-1);
      const std::array<const void*, 2> in = {a.data() + shift, b.data()};
      const std::array<void*, 1> out = {y.data() + to};
      ASSERT_TRUE(kernel->run(in, out).ok());
      for (size_t i = 0; i < 103; ++i) {
        ASSERT_EQ(y[to + i], a[shift + i] + b[i]) << shift << " " << to;
      }
      EXPECT_EQ(y[to + 103], -1);
    }
  }
}

// The same holds for running sums; this line has many parts.
TEST(CudaTwin, RunningSumsTakeAnyAddress) {
  const auto twin = make_twin_backend(kernels());
  Bound bound("y = cumsum x axis=0", parse_types("x f32[300000]"));
  ASSERT_TRUE(bound.status().ok());
  const auto kernel = twin->prepare(bound.call());
  std::vector<float> x(300'010);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5);
  x[200'000] = std::numeric_limits<float>::infinity();
  x[250'000] = -x[200'000];
  std::vector<float> y(x.size());
  for (const size_t shift : {size_t{0}, size_t{1}}) {
    for (const size_t to : {size_t{0}, size_t{3}}) {
      std::fill(y.begin(), y.end(), -1);
      const std::array<const void*, 1> in = {x.data() + shift};
      const std::array<void*, 1> out = {y.data() + to};
      ASSERT_TRUE(kernel->run(in, out).ok());
      double sum = 0;
      for (size_t i = 0; i < 300'000; ++i) {
        sum += x[shift + i];
        const auto wanted = static_cast<float>(sum);
        ASSERT_TRUE(y[to + i] == wanted ||
                    (std::isnan(wanted) && std::isnan(y[to + i])))
            << i << ": " << y[to + i] << " is not " << wanted;
      }
      EXPECT_EQ(y[to + 300'000], -1);
    }
  }
}

// Without fusing, these would be seven launches and more.
TEST(CudaTwin, PointwiseExpansionsAreOneLaunch) {
  for (const auto& [line, launches] :
       std::map<std::string, size_t>{{"y = dropout x 0.1 7", 1},
                                     {"y = softplus x", 1},
                                     {"y = mse x z", 2},
                                     {"y = norm x", 2}}) {
    Bound bound(line, parse_types("x bf16[64,32] z bf16[64,32]"));
    ASSERT_TRUE(bound.status().ok()) << line;
    const auto plan = cuda::plan_of(bound.call());
    ASSERT_TRUE(plan.has_value()) << line;
    EXPECT_LE(plan->steps.size(), launches) << line;
  }
}

// A sum of many rows with few columns has enough blocks for the multiprocessors
// of a GPU in each of its launches.
TEST(CudaTwin, SumsOfColumnsHaveManyBlocks) {
  const auto blocks_of = [](const char* line, const char* types) {
    Bound bound(line, parse_types(types));
    const auto plan = cuda::plan_of(bound.call());
    std::vector<int64_t> blocks;
    for (const cuda::Step& step : plan->steps) {
      blocks.push_back(std::get<cuda::Launch>(step).blocks);
    }
    return blocks;
  };
  EXPECT_EQ(blocks_of("y = sum x axis=0,1", "x bf16[16,1024,768]"),
            (std::vector<int64_t>{396, 96}));
  EXPECT_EQ(blocks_of("gx gw gb = layer_norm_grad g x w",
                      "g bf16[16384,768] x bf16[16384,768] w bf16[768]"),
            (std::vector<int64_t>{256, 96, 96}));
}

// A part is what stands at its place in the whole.
TEST(CudaTwin, PartsAreThoseOfTheWhole) {
  expect_same(
      "", {"y = rand f32[3,4] 7 part=2,5/9,10",
           "y = randn bf16[3,4] 7 part=2,5/9,10",
           "y = arange i64[5] 3 -2 part=4/11", "y = eye f32[3,4] part=2,1/9,10",
           "y = randperm i64[5] 3 part=6/17", "y = full u8[3,2] 7 part=0,2/3,4",
           "y = randn f64[2,3,4] 1 part=1,0,3/4,3,9"});
}

// There are more keys than a block has threads, many of them equal, and many
// indices of one place, where values are added or put in their order.
TEST(CudaTwin, LongLinesAreSortedAndCollectedInOrder) {
  expect_same(
      "x i64[5000]<70 f f32[3,700] i i64[3000]<7 g i64[3000,3] "
      "t i64[9,3] s i64[3000,3] j i64[3000,3]<9",
      {"y = argsort x", "y = argsort x descending=1", "y = argsort f axis=1",
       "y = argsort f axis=0", "y = randperm i64[4097] 5",
       "v i = sort f axis=-1", "v i = topk f size=300",
       "z = scatter_add t j s axis=0", "z = scatter t j s axis=0",
       "y = cumsum x axis=0", "y = argmax f axis=1", "y = sum x"});
}

// Whole tiles and parts of tiles go through the memory of the block.
TEST(CudaTwin, TransposesByTilesMoveEveryElement) {
  const char* operands =
      "x f32[70,3,45] y bf16[2,33,40,9] z u8[1,64,0] w i64[12,9]";
  expect_same(operands,
              {"a = transpose x axes=2,1,0", "a = transpose x axes=0,2,1",
               "a = transpose x axes=1,2,0", "a = transpose y axes=3,1,0,2",
               "a = transpose y axes=0,2,3,1", "a = transpose z axes=2,1,0",
               "a = transpose w axes=1,0"});
  Bound bound("a = transpose x axes=2,1,0", parse_types(operands));
  ASSERT_TRUE(bound.status().ok());
  const auto plan = cuda::plan_of(bound.call());
  ASSERT_TRUE(plan.has_value());
  EXPECT_NE(std::get<cuda::Launch>(plan->steps[0])
                .source.text.find("transpose<uint32_t>"),
            std::string::npos);
}

TEST(CudaTwin, NamesWhatIsWrongWithTheData) {
  check_wrong(*make_twin_backend(kernels()), "twin");
}

TEST(CudaTwin, ResultsMayReplaceOperandsWhereTheKernelSaysSo) {
  const auto twin = make_twin_backend(kernels());
  int replaced = 0;
  for_each_grid_line(
      [&](const GridLine& g) {
        replaced += check_in_place(*twin, g.line, g.tensors);
      },
      compiled_cases());
  EXPECT_GT(replaced, 20);
}

}  // namespace
}  // namespace gt::exec
