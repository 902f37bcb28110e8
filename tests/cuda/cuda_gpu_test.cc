// The backend on the GPU of this host, or on the device of GT_CUDA_PATH.
// scripts/test-gpu runs these tests, and scripts/test does not. Each op is a
// test of its own, so that several processes can share them.
#include <gtest/gtest.h>

#include <set>

#include "exec/backend/registry.h"
#include "ferry.h"
#include "gpu_case.h"
#include "kernels_grid.h"
#include "kernels_wrong.h"

extern "C" const gt::exec::BackendPlugin gt_backend;

namespace gt::exec {
namespace {

// The process has one backend until it ends, since a GPU is slow to be taken.
Backend* gpu() {
  static Backend* const made = []() -> Backend* {
    auto backend = gt_backend.make({});
    if (!backend.ok()) {
      ADD_FAILURE() << backend.error().message;
      return nullptr;
    }
    return new FerryBackend(std::move(backend.value()));
  }();
  return made;
}

std::vector<std::string> ops_of_grid() {
  std::set<std::string> ops;
  for (const KernelCase& c : kernel_cases()) ops.insert(op_of(c.line));
  return {ops.begin(), ops.end()};
}

class GpuGrid : public testing::TestWithParam<std::string> {};

TEST_P(GpuGrid, AgreesWithTheReference) {
  ASSERT_NE(gpu(), nullptr);
  const auto ref = backend_for_test("ref", {1, ""});
  for_each_case([&](const KernelCase& c, const std::string& dtype) {
    if (op_of(c.line) == GetParam()) {
      check_case(gpu_case(c), dtype, *gpu(), *ref);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuGrid, testing::ValuesIn(ops_of_grid()),
                         [](const testing::TestParamInfo<std::string>& op) {
                           return op.param;
                         });

TEST(Gpu, LongRowsAndColumnsAgreeWithTheReference) {
  ASSERT_NE(gpu(), nullptr);
  const auto ref = backend_for_test("ref", {1, ""});
  for_each_case(
      [&](const KernelCase& c, const std::string& dtype) {
        if (dtype != "f64" && dtype != "f16")
          check_case(c, dtype, *gpu(), *ref);
      },
      long_cases());
}

TEST(Gpu, NamesWhatIsWrongWithTheData) {
  ASSERT_NE(gpu(), nullptr);
  check_wrong(*gpu(), "the GPU");
}

TEST(Gpu, BytesSurviveTheWayThroughStagingMemory) {
  ASSERT_NE(gpu(), nullptr);
  check_ways(gpu()->device());
}

}  // namespace
}  // namespace gt::exec
