// The cpu backend is compared with the reference over the grid
// (kernels_grid.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/backend/ref/ref.h"
#include "kernels_grid.h"
#include "ops_samples.h"
#include "share.h"

namespace gt::exec {
namespace {

// Checks the run's share of the cases by one instruction set. Each set has
// another share, so that together they run more of the cases.
void check_share(const std::string& isa) {
  const auto isas = isas_for_test();
  size_t number = static_cast<size_t>(std::find(isas.begin(), isas.end(), isa) -
                                      isas.begin());
  const Share share = share_of_run();
  const auto cpu = backend_for_test("cpu", {1, isa});
  const auto ref = backend_for_test("ref", {1, ""});
  for_each_case([&](const KernelCase& c, const std::string& dtype) {
    if (share.has(number++)) check_case(c, dtype, *cpu, *ref);
  });
}

// A composite is tested by its expansion and its kernels in the same dtype.
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

// The reference has no kernel for a composite, whose meaning is its expansion.
TEST(KernelCases, TheReferenceHasKernelsOfPrimitivesAlone) {
  for (const KernelCase& c : kernel_cases()) {
    const Names names = names_of_round(dtypes_of(c)[0], 5);
    TypeMap types;
    for (const auto& [name, t] : random_tensors(c.operands, names, 3)) {
      types[name] = t.type;
    }
    Bound bound(fill_in(c.line, names), types);
    if (!bound.status().ok()) continue;  // sizes may not fit
    const Op& op = *bound.call().op;
    // A part of a mean may be a number where the sum of its expansion is none.
    EXPECT_EQ(ref::kernel_of(bound.call()) != nullptr,
              (op.is_primitive() && !op.row->alias) || op.name == "part_mean")
        << c.line;
  }
}

// What takes several passes as an expansion has kernels, so that it is fast.
TEST(KernelCases, TheCpuHasKernelsOfStatistics) {
  const auto cpu = backend_for_test("cpu", {1, ""});
  const TypeMap types = parse_types("x f32[4,8] g f32[4]");
  for (const char* line :
       {"y = mean x axis=1", "y = var x axis=1", "y = std x axis=1",
        "y = norm x axis=1", "y = logsumexp x axis=1",
        "y = exp_others x axis=1", "z = var_grad g x axis=1",
        "z = std_grad g x axis=1", "z = logsumexp_grad g x axis=1"}) {
    Bound bound(line, types);
    ASSERT_TRUE(bound.status().ok()) << line;
    EXPECT_NE(cpu->prepare(bound.call()), nullptr) << line;
  }
}

class KernelGrid : public testing::TestWithParam<std::string> {};

TEST_P(KernelGrid, CpuAgreesWithReference) { check_share(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Isas, KernelGrid, testing::ValuesIn(isas_for_test()),
                         [](const auto& isa) {
                           return isa.param.empty() ? "best" : isa.param;
                         });

}  // namespace
}  // namespace gt::exec
