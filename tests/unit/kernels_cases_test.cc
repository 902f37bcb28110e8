// The grid: every op of the table on every dtype, sizes 0, 1, odd and random,
// broadcast, negative axes.
#include <gtest/gtest.h>

#include "exec/backend/philox.h"
#include "exec/backend/ref/ref.h"
#include "kernels_harness.h"

namespace gt::exec {
namespace {

constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 16, 17, 33, 40};

Names names_of_round(const std::string& dtype, uint64_t round) {
  Names names{dtype, {}};
  for (const char c : {'M', 'N', 'K'}) {
    const uint64_t word = philox::word(round, static_cast<uint64_t>(c));
    int64_t size = kSizes[word % std::size(kSizes)];
    if (round == 0) size = 1;
    if (round <= 2 && round > 0 && word % 2 == 0) size = 0;
    names.sizes[c] = size;
  }
  return names;
}

// Sizes differ from round to round, where the case has any.
uint64_t rounds_of(const KernelCase& c) {
  const std::string text = c.line + c.operands;
  const bool sized = text.find("$M") != std::string::npos ||
                     text.find("$N") != std::string::npos ||
                     text.find("$K") != std::string::npos;
  return sized ? 6 : 1;
}

// Counts the rounds in which the line could be bound.
void check(const KernelCase& c, const std::string& dtype, Backend& cpu,
           Backend& ref) {
  int bound = 0;
  for (uint64_t round = 0; round < rounds_of(c); ++round) {
    const Names names = names_of_round(dtype, round);
    const Tensors tensors = random_tensors(c.operands, names, round * 100);
    const std::string line = fill_in(c.line, names);
    const auto results = evaluate(cpu, line, tensors);
    const bool exact = c.ulps == 0 || !is_float(*parse_dtype(dtype));
    const auto wanted =
        evaluate(ref, exact ? line : fill_in(c.line, {"f64", names.sizes}),
                 exact ? tensors : widened(tensors));
    const std::string where = line + " over " + fill_in(c.operands, names);
    if (!results.ok() || !wanted.ok()) {
      // Only sizes may be refused, and by both.
      EXPECT_FALSE(results.ok()) << where << ": " << wanted.error().message;
      EXPECT_FALSE(wanted.ok()) << where << ": " << results.error().message;
      continue;
    }
    ++bound;
    for (size_t r = 0; r < results.value().size(); ++r) {
      const Tensor& y = results.value()[r];
      const Tensor& w = wanted.value()[r];
      if (!exact) {
        EXPECT_LE(distance(y, w, c.norm), c.ulps) << where << ", result " << r;
      } else if (is_float(y.type.dtype) && !is_float(*parse_dtype(dtype))) {
        EXPECT_LE(distance(y, w, c.norm), c.ulps) << where << ", result " << r;
      } else {
        EXPECT_TRUE(same_bits(y, w)) << where << ", result " << r
                                     << ", distance " << distance(y, w, false);
      }
    }
  }
  EXPECT_GT(bound, 0) << c.line << " never bound for " << dtype;
}

void check_all(const std::string& isa) {
  const auto cpu = backend_for_test("cpu", {1, isa});
  const auto ref = backend_for_test("ref", {1, ""});
  for (const KernelCase& c : kernel_cases()) {
    for (const std::string& dtype : dtypes_of(c)) check(c, dtype, *cpu, *ref);
  }
}

// A composite's expansion and its kernels' functions in the same dtype.
TEST(KernelCases, EveryPrimitiveHasAReferenceKernel) {
  const auto ref = backend_for_test("ref", {1, ""});
  for (const KernelCase& c : kernel_cases()) {
    for (const std::string& dtype : dtypes_of(c)) {
      const Names names = names_of_round(dtype, 5);
      const auto results = evaluate(*ref, fill_in(c.line, names),
                                    random_tensors(c.operands, names, 3));
      EXPECT_TRUE(results.ok())
          << c.line << ": " << (results.ok() ? "" : results.error().message);
    }
  }
}

// And of primitives alone: a composite's meaning is its expansion.
TEST(KernelCases, TheReferenceHasKernelsOfPrimitivesAlone) {
  for (const KernelCase& c : kernel_cases()) {
    const Names names = names_of_round(dtypes_of(c)[0], 5);
    TypeMap types;
    for (const auto& [name, t] : random_tensors(c.operands, names, 3)) {
      types[name] = t.type;
    }
    Bound bound(fill_in(c.line, names), types);
    if (!bound.status().ok()) continue;  // sizes that do not fit
    const Op& op = *bound.call().op;
    EXPECT_EQ(ref::kernel_of(bound.call()) != nullptr,
              op.is_primitive() && !op.row->alias)
        << c.line;
  }
}

class KernelGrid : public testing::TestWithParam<std::string> {};

TEST_P(KernelGrid, CpuAgreesWithReference) { check_all(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Isas, KernelGrid, testing::ValuesIn(isas_for_test()),
                         [](const auto& isa) {
                           return isa.param.empty() ? "best" : isa.param;
                         });

}  // namespace
}  // namespace gt::exec
