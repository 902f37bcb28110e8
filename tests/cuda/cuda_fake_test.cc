// The backend's own code, from plans to calls of the driver and of cuBLASLt, on
// the fake device (fake/machine.h). A pass is one on the fake device, never one
// of CUDA.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "exec/backend/registry.h"
#include "fake/memory.h"
#include "gpu_case.h"
#include "kernels_grid.h"
#include "kernels_wrong.h"

extern "C" const gt::exec::BackendPlugin gt_backend;

namespace gt::exec {
namespace {

// The harness has operands in memory of the host: they go to the device and
// back for each run.
class Ferry final : public Kernel {
 public:
  Ferry(const Call& call, std::unique_ptr<Kernel> kernel, Device& device)
      : kernel_(std::move(kernel)), device_(device) {
    for (const Argument& a : call.arguments) {
      const bool moves = a.role == Role::kTensor && !a.absent && !a.literal;
      operands_.push_back(moves ? a.type.bytes() : 0);
      moves_.push_back(moves);
    }
    for (const Type& type : call.results) results_.push_back(type.bytes());
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    std::vector<const void*> from(in.begin(), in.end());
    std::vector<void*> to;
    for (size_t i = 0; i < in.size(); ++i) {
      if (!moves_[i]) continue;
      void* data = device_.allocate(operands_[i]);
      EXPECT_TRUE(device_.upload(in[i], data, operands_[i]).ok());
      from[i] = data;
    }
    for (const size_t bytes : results_) to.push_back(device_.allocate(bytes));
    Status s = kernel_->run(from, to);
    if (device_.checks() > 0) s = *device_.take_check(true);
    for (size_t r = 0; r < to.size(); ++r) {
      if (s.ok()) s = device_.download(to[r], out[r], results_[r]);
      device_.release(to[r], results_[r]);
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if (moves_[i]) device_.release(const_cast<void*>(from[i]), operands_[i]);
    }
    return s;
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  Device& device_;
  std::vector<size_t> operands_, results_;
  std::vector<bool> moves_;
};

class FerryBackend final : public Backend {
 public:
  explicit FerryBackend(std::unique_ptr<Backend> backend)
      : backend_(std::move(backend)) {}
  std::string_view name() const override { return backend_->name(); }
  Device& device() override { return backend_->device(); }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    auto kernel = backend_->prepare(call);
    if (kernel == nullptr) return nullptr;
    return std::make_unique<Ferry>(call, std::move(kernel), device());
  }

 private:
  std::unique_ptr<Backend> backend_;
};

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

// The kernels' texts are the twin's (cuda_twin_test.cc); here the launches are
// the backend's own. The first time, each of 800 kernels is a run of the
// compiler, so it is for the full tier.
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
  Device& device = backend_->device();
  for (const size_t bytes :
       {size_t{1}, size_t{1} << 20, (size_t{5} << 20) + 3}) {
    std::vector<char> sent(bytes);
    for (size_t i = 0; i < bytes; ++i)
      sent[i] = static_cast<char>(i * 7 + i / 251);
    void* data = device.allocate(bytes);
    void* other = device.allocate(bytes);
    ASSERT_TRUE(device.upload(sent.data(), data, bytes).ok());
    const std::vector<char> wanted = sent;
    std::fill(sent.begin(), sent.end(), '\0');  // it may change at once
    ASSERT_TRUE(device.copy(data, other, bytes).ok());
    device.release(data, bytes);
    std::vector<char> got(bytes);
    ASSERT_TRUE(device.download(other, got.data(), bytes).ok());
    device.release(other, bytes);
    EXPECT_TRUE(got == wanted) << bytes;
  }
}

// What the fake device is for: it ends a program that uses its memory wrongly.
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
