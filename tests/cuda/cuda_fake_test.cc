// The backend's own code, from plans to calls of the driver and of cuBLASLt, on
// the fake device (fake/machine.h). It says nothing about CUDA itself.
#include <gtest/gtest.h>

#include <cstdlib>

#include "exec/backend/registry.h"
#include "fake/memory.h"
#include "ferry.h"
#include "gpu_case.h"
#include "kernels_grid.h"
#include "kernels_wrong.h"

extern "C" const gt::exec::BackendPlugin gt_backend;

namespace gt::exec {
namespace {

class CudaFake : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::setenv("GT_CUDA_PATH", GT_FAKE_CUDA, 1);
    ::setenv("XDG_CACHE_HOME", GT_TWIN_HOME "/cache", 1);
  }
  static void TearDownTestSuite() {
    ::unsetenv("GT_CUDA_PATH");
    ::unsetenv("XDG_CACHE_HOME");
  }
  void SetUp() override {
    auto made = gt_backend.make({});
    ASSERT_TRUE(made.ok()) << made.error().message;
    backend_ = std::make_unique<FerryBackend>(std::move(made.value()));
  }
  std::unique_ptr<Backend> backend_;
};

TEST_F(CudaFake, ProductsAreDescribedToTheLibraryAsTheyAre) {
  const auto ref = backend_for_test("ref", {1, ""});
  int checked = 0;
  for_each_case([&](const KernelCase& c, const std::string& dtype) {
    const std::string op = op_of(c.line);
    if (op != "matmul" && op != "linear") return;
    check_case(c, dtype, *backend_, *ref);
    ++checked;
  });
  EXPECT_GT(checked, 50);
}

// cuda_twin_test.cc tests the same texts of kernels; here the backend launches
// them. The first time each of 800 kernels is compiled in a run of its own, so
// the full tier does it.
TEST_F(CudaFake, AgreesWithTheReference) {
  if (std::getenv("GT_EVERY") == nullptr) GTEST_SKIP() << "GT_EVERY=1 runs it";
  const auto ref = backend_for_test("ref", {1, ""});
  for_each_case([&](const KernelCase& c, const std::string& dtype) {
    check_case(gpu_case(c), dtype, *backend_, *ref);
  });
}

TEST_F(CudaFake, NamesWhatIsWrongWithTheData) {
  check_wrong(*backend_, "the fake device");
}

TEST_F(CudaFake, BytesSurviveTheWayThroughStagingMemory) {
  check_ways(backend_->device());
}

// The fake device ends a program that uses its memory wrongly.
TEST(CudaFakeMemory, EndsWhoUsesItWrongly) {
  fake::Memory memory;
  const uint64_t block = memory.reserve(100);
  EXPECT_DEATH(memory.at(block, 1), "used too early");
  memory.begin(block);
  auto* data = static_cast<char*>(memory.at(block, 100));
  EXPECT_DEATH(memory.at(block, 101), "beyond the end");
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(block) = 1, "");
  const char kept = data[100];
  data[100] = 1;
  EXPECT_DEATH(memory.check(block), "beside a block");
  data[100] = kept;
  memory.end(block);
  EXPECT_DEATH(memory.at(block, 1), "not there");
  EXPECT_DEATH(memory.end(block), "not there");
}

}  // namespace
}  // namespace gt::exec
