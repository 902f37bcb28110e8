// Laws that hold for every kernel: bits depend neither on an element's place
// nor on the number of threads, results may replace operands, and errors have
// their words.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "exec/backend/philox.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/registry.h"
#include "kernels_harness.h"
#include "kernels_wrong.h"
#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/table.h"
#include "share.h"

namespace gt::exec {
namespace {

// Ops whose products may be split over threads.
bool is_product(const std::string& op) {
  const Family* family = find_op(op)->family;
  return family == &kProducts || family == &kWindows;
}

Names names_for(const std::string& dtype, int64_t m, int64_t n, int64_t k) {
  return {dtype, {{'M', m}, {'N', n}, {'K', k}}};
}

class KernelLaws : public testing::TestWithParam<std::string> {};

// These sizes give work to three threads.
TEST(KernelThreads, BitsDoNotDependOnTheirNumber) {
  const auto one = backend_for_test("cpu", {1, ""});
  const auto three = backend_for_test("cpu", {3, ""});
  const Share share = share_of_run();
  size_t number = 0;
  for (const KernelCase& c : kernel_cases()) {
    if (!share.has(number++)) continue;
    if (is_product(op_of(c.line))) continue;
    const std::vector<std::string> dtypes = dtypes_of(c);
    if (dtypes[0] != "f32") continue;
    const bool cube = c.operands.find("$K") != std::string::npos;
    const Names names =
        cube ? names_for("f32", 41, 40, 61) : names_for("f32", 299, 331, 1);
    const Tensors tensors = random_tensors(c.operands, names, 5);
    const std::string line = fill_in(c.line, names);
    const auto a = evaluate(*one, line, tensors);
    const auto b = evaluate(*three, line, tensors);
    ASSERT_EQ(a.ok(), b.ok()) << line;
    if (!a.ok()) continue;
    for (size_t r = 0; r < a.value().size(); ++r) {
      EXPECT_TRUE(same_bits(a.value()[r], b.value()[r]))
          << line << ", result " << r;
    }
  }
}

// One line that is so long that threads share its work. Of the permutation by
// seed 58, two random words agree in all but the low bits, which decide.
TEST(KernelThreads, LongLinesHaveTheBitsOfTheReference) {
  const auto ref = backend_for_test("ref", {1, ""});
  const Tensors tensors =
      random_tensors("x f32[40000] i i64[40000]<1000 t i64[90000]<40000",
                     names_for("f32", 1, 1, 1), 5);
  for (const int threads : {1, 3}) {
    const auto cpu = backend_for_test("cpu", {threads, ""});
    for (const char* line :
         {"y = randperm i64[1000000] 58", "y = randperm i64[40001] 7",
          "y = randperm i32[40000] 8", "y = argsort x",
          "y = argsort i descending=1", "y = flip x", "y = take x t",
          "y = gather x t", "y = slice x ::3"}) {
      const auto y = evaluate(*cpu, line, tensors);
      const auto w = evaluate(*ref, line, tensors);
      ASSERT_TRUE(y.ok() && w.ok()) << line;
      EXPECT_TRUE(same_bits(y.value()[0], w.value()[0])) << line;
    }
  }
}

// Elements [first, first + n) of a one-dimensional tensor.
Tensor piece(const Tensor& whole, int64_t first, int64_t n) {
  Tensor part(Type{whole.type.dtype, {n}});
  const size_t size = size_of(whole.type.dtype);
  std::memcpy(part.data.data(), whole.data.data() + first * size, n * size);
  return part;
}

// "x $T[$M,1]>0 c bool[$N] s f64[]" with vectors of $M in place of the tensors.
std::string vectors_for(std::string_view operands) {
  std::string out;
  bool inside = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const char c = operands[i];
    if (inside && c == ']') inside = false;
    if (inside) continue;
    out += c;
    if (c != '[' || operands[i + 1] == ']') continue;
    out += "$M";
    inside = true;
  }
  return out;
}

// Whether the line over vectors is point by point and does not depend on
// places.
bool is_pointwise(const std::string& line, const Tensors& vectors) {
  TypeMap types;
  for (const auto& [name, t] : vectors) types[name] = t.type;
  Bound bound(line, types);
  if (!bound.status().ok()) return false;
  if (bound.call().op->row->alias) return false;
  const auto rule = index_rule(bound.call());
  if (rule.size() != 1 || rule[0].is_summed || rule[0].needs_split ||
      !rule[0].extreme.empty()) {
    return false;
  }
  const Call& call = bound.call();
  size_t along = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i]) || call.type(i).shape.empty()) continue;
    if (rule[0].arguments[i].dim != 0) return false;
    ++along;
  }
  return along > 0 &&
         std::all_of(call.results.begin(), call.results.end(),
                     [](const Type& t) { return t.shape.size() == 1; });
}

void check_pieces(Backend& cpu, const std::string& line, const Tensors& whole) {
  const auto all = evaluate(cpu, line, whole);
  ASSERT_TRUE(all.ok()) << line;
  for (const auto& [first, n] : {std::pair<int64_t, int64_t>{0, 1},
                                 {1, 1},
                                 {5, 16},
                                 {7, 33},
                                 {13, 150},
                                 {218, 1},
                                 {3, 8}}) {
    Tensors part;
    for (const auto& [name, t] : whole) {
      part[name] = t.type.shape.empty() ? t : piece(t, first, n);
    }
    const auto alone = evaluate(cpu, line, part);
    ASSERT_TRUE(alone.ok()) << line;
    EXPECT_TRUE(same_bits(alone.value()[0], piece(all.value()[0], first, n)))
        << line << " from " << first << ", " << n;
  }
}

// A piece of a point-wise line over vectors is the same if it is computed
// alone.
TEST_P(KernelLaws, BitsDoNotDependOnPlaceOrLength) {
  const auto cpu = backend_for_test("cpu", {1, GetParam()});
  std::set<std::string> checked;
  for (const KernelCase& c : kernel_cases()) {
    for (const std::string& dtype : dtypes_of(c)) {
      const Names names = names_for(dtype, 219, 1, 1);
      const std::string line = fill_in(c.line, names);
      const Tensors whole = random_tensors(vectors_for(c.operands), names, 11);
      if (whole.empty() || !is_pointwise(line, whole)) continue;
      checked.insert(op_of(line));
      check_pieces(*cpu, line, whole);
    }
  }
  EXPECT_GT(checked.size(), 50U);
}

// Rows [first, first + n) of a matrix.
Tensor rows_of(const Tensor& whole, int64_t first, int64_t n) {
  Tensor part(Type{whole.type.dtype, {n, whole.type.shape[1]}});
  const size_t row = whole.type.bytes() / whole.type.shape[0];
  std::memcpy(part.data.data(), whole.data.data() + first * row, n * row);
  return part;
}

// part= gives a block of queries to a rank; it gets that block of the whole.
TEST_P(KernelLaws, AttentionOfSomeQueriesIsTheirsInTheWhole) {
  const auto cpu = backend_for_test("cpu", {1, GetParam()});
  for (const char* dtype : {"f32", "f64"}) {
    const Names names = names_for(dtype, 190, 12, 1);
    Tensors x = random_tensors("q $T[$M,$N] k $T[$M,$N] v $T[$M,$N]", names, 3);
    const auto all = evaluate(*cpu, "o l = attention q k v causal=1", x);
    ASSERT_TRUE(all.ok());
    const Tensor q = x["q"];
    for (const auto& [first, n] :
         {std::pair<int64_t, int64_t>{0, 1}, {7, 90}, {64, 64}, {101, 89}}) {
      x["q"] = rows_of(q, first, n);
      const auto some = evaluate(*cpu,
                                 "o l = attention q k v causal=1 part=" +
                                     std::to_string(first) + ",0/190,12",
                                 x);
      ASSERT_TRUE(some.ok());
      EXPECT_TRUE(same_bits(some.value()[0], rows_of(all.value()[0], first, n)))
          << dtype << " from " << first;
      EXPECT_TRUE(same_bits(some.value()[1], piece(all.value()[1], first, n)))
          << dtype << " from " << first;
    }
  }
}

// A result may take the memory of an operand where the kernel says so.
TEST_P(KernelLaws, ResultsMayReplaceOperandsWhereTheKernelSaysSo) {
  const auto cpu = backend_for_test("cpu", {1, GetParam()});
  int replaced = 0;
  for (const KernelCase& c : kernel_cases()) {
    for (const std::string& dtype : dtypes_of(c)) {
      const Names names = names_for(dtype, 9, 21, 5);
      const Tensors tensors = random_tensors(c.operands, names, 17);
      replaced += check_in_place(*cpu, fill_in(c.line, names), tensors);
    }
  }
  EXPECT_GT(replaced, 100);
}

INSTANTIATE_TEST_SUITE_P(Isas, KernelLaws, testing::ValuesIn(isas_for_test()),
                         [](const auto& isa) {
                           return isa.param.empty() ? "best" : isa.param;
                         });

// Every instruction set gives random values with the same bits.
TEST(KernelErrors, RandomValuesAreOneOnAllInstructionSets) {
  const auto ref = backend_for_test("ref", {1, ""});
  for (const std::string& isa : isas_for_test()) {
    const auto cpu = backend_for_test("cpu", {2, isa});
    for (const char* line :
         {"y = randn f32[100001] 3", "y = rand f64[100001] 3",
          "y = randn bf16[513] 4 scale=2", "y = rand f16[7] 5"}) {
      const auto a = evaluate(*cpu, line, {});
      const auto b = evaluate(*ref, line, {});
      ASSERT_TRUE(a.ok() && b.ok());
      EXPECT_TRUE(same_bits(a.value()[0], b.value()[0])) << line << isa;
    }
  }
}

TEST(KernelErrors, NameWhatIsWrongWithTheData) {
  for (const char* name : {"ref", "cpu"}) {
    check_wrong(*backend_for_test(name, {1, ""}), name);
  }
}

TEST(KernelErrors, UnknownInstructionSetsAreRefused) {
  for (const char* name : {"cpu", "ref", "null"}) {
    const auto backend = make_backend(name, {1, "mmx"});
    ASSERT_FALSE(backend.ok()) << name;
    EXPECT_EQ(backend.error().message,
              "no instruction set 'mmx': sse2, avx2 or avx512");
  }
}

// These edges do not occur among random values.
TEST(KernelEdges, IntegersWrapAndCastsSaturate) {
  for (const char* name : {"ref", "cpu"}) {
    const auto backend = backend_for_test(name, {1, ""});
    const auto print = [&](const std::string& line,
                           const std::string& operand) {
      const auto x = evaluate(*backend, operand, {});
      EXPECT_TRUE(x.ok()) << operand;
      const auto y = evaluate(*backend, line, {{"x", x.value()[0]}});
      EXPECT_TRUE(y.ok()) << line;
      std::string out;
      for (int64_t i = 0; i < y.value()[0].type.elements(); ++i) {
        out += (i > 0 ? " " : "") + std::to_string(y.value()[0].real(i));
        out.erase(out.find('.') == std::string::npos ? out.size()
                                                     : out.find('.'));
      }
      return out;
    };
    EXPECT_EQ(print("y = add x 1", "x = tensor u8[2] 255 7"), "0 8") << name;
    EXPECT_EQ(print("y = mul x x", "x = tensor i32[1] 65536"), "0") << name;
    EXPECT_EQ(print("y = neg x", "x = tensor i32[1] -2147483648"),
              "-2147483648");
    EXPECT_EQ(print("y = cast x u8", "x = tensor f32[4] -1 nan 1e9 2.9"),
              "0 0 255 2");
    EXPECT_EQ(print("y = cast x i32", "x = tensor f64[3] inf -inf -2.9"),
              "2147483647 -2147483648 -2");
    EXPECT_EQ(print("y = cast x u8", "x = tensor i64[2] 300 -1"), "44 255");
    EXPECT_EQ(print("y = mod x -3", "x = tensor i64[2] 7 -7"), "-2 -1");
    EXPECT_EQ(print("y = floordiv x 2", "x = tensor i64[2] 7 -7"), "3 -4");
    EXPECT_EQ(print("y = argmax x", "x = tensor f32[4] 1 nan 5 nan"), "1");
    EXPECT_EQ(print("i = argsort x", "x = tensor f32[4] 1 nan -5 1"),
              "2 0 3 1");
    EXPECT_EQ(
        print("i = argsort x descending=1", "x = tensor f32[4] 0 nan -0 1"),
        "1 3 0 2");
    EXPECT_EQ(print("i = argsort x", "x = tensor i64[3] 1 -1 0"), "1 2 0");
    EXPECT_EQ(print("y = max x", "x = tensor f32[3] 1 2 -inf"), "2");
  }
}

// A window of a pool has its first element even if that is -inf, the first of
// equal ones, zeros of either sign among them, and nan before all others.
TEST(KernelEdges, PoolsTakeInfinitiesNansAndEquals) {
  for (const std::string& isa : isas_for_test()) {
    const auto cpu = backend_for_test("cpu", {1, isa});
    const auto ref = backend_for_test("ref", {1, ""});
    for (const char* dtype : {"f32", "f64"}) {
      for (const char* keys :
           {"kernel_size=3 stride=2 padding=1", "kernel_size=2",
            "kernel_size=3,2 stride=1 padding=1",
            "kernel_size=4 stride=3 padding=2"}) {
        Tensors x =
            random_tensors("x $T[2,2,9,71]", names_for(dtype, 1, 1, 1), 3);
        const double values[] = {-HUGE_VAL, 0.0, -0.0, 1, std::nan("")};
        uint64_t word = 0;
        for (int64_t i = 0; i < x["x"].type.elements(); ++i) {
          word = philox::word(7, static_cast<uint64_t>(i));
          // One plane is -inf alone.
          x["x"].set(i, values[i < 9 * 71 ? 0 : word % std::size(values)]);
        }
        const std::string made = "y = max_pool2d x " + std::string(keys);
        const auto y = evaluate(*cpu, made, x);
        const auto w = evaluate(*ref, made, x);
        ASSERT_TRUE(y.ok() && w.ok()) << made;
        EXPECT_EQ(distance(y.value()[0], w.value()[0], true), 0) << made << isa;
        x["g"] = random_tensors("g " + to_string(y.value()[0].type),
                                names_for(dtype, 1, 1, 1), 5)["g"];
        const std::string back = "z = max_pool2d_grad g x " + std::string(keys);
        const auto z = evaluate(*cpu, back, x);
        const auto v = evaluate(*ref, back, x);
        ASSERT_TRUE(z.ok() && v.ok()) << back;
        EXPECT_LE(distance(z.value()[0], v.value()[0], true), 4) << back << isa;
      }
    }
  }
}

// Values that are not finite stay where they belong, across blocks of keys,
// too.
TEST(KernelEdges, AttentionTakesInfinitiesAndNans) {
  for (const std::string& isa : isas_for_test()) {
    const auto cpu = backend_for_test("cpu", {1, isa});
    const auto ref = backend_for_test("ref", {1, ""});
    const Names names = names_for("f32", 150, 4, 1);
    for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      Tensors x =
          random_tensors("q $T[$M,$N]>0 k $T[$M,$N]>0 v $T[$M,$N]", names, 3);
      // -inf is in all keys of the first block; another value is in one key of
      // the last.
      const int64_t begin = value == -HUGE_VAL ? 0 : 140 * 4;
      const int64_t end = value == -HUGE_VAL ? 70 * 4 : 141 * 4;
      for (int64_t i = begin; i < end; ++i) x["k"].set(i, value);
      for (const char* line :
           {"o = attention q k v", "o = attention q k v causal=1"}) {
        const auto y = evaluate(*cpu, line, x);
        const auto w = evaluate(*ref, line, x);
        ASSERT_TRUE(y.ok() && w.ok());
        EXPECT_LE(distance(y.value()[0], w.value()[0], true), 64)
            << line << " with " << value << " on " << isa;
      }
    }
  }
}

}  // namespace
}  // namespace gt::exec
