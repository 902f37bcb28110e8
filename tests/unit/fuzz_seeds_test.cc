// Calls for the seeds of every fuzzer, tests/fuzz/corpus/NAME, the function
// that libFuzzer calls with them (tests/fuzz/NAME_fuzz.cc). scripts/fuzz makes
// new inputs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// fuzz_targets.inc has a line for each fuzzer (tests/CMakeLists.txt).
extern "C" {
#define FUZZ_TARGET(name) int name##_fuzz(const uint8_t* data, size_t size);
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
}

namespace gt {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
};

const Target kTargets[] = {
#define FUZZ_TARGET(name) {#name, name##_fuzz},
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
};

std::string seed;  // the path of the seed that runs

// A target that finds something calls abort(), and this tells by which seed.
void name_seed(int /*signal*/) {
  (void)!::write(STDERR_FILENO, seed.data(), seed.size());
  (void)!::write(STDERR_FILENO, "\n", 1);
}

class FuzzSeeds : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override { std::signal(SIGABRT, name_seed); }
  void TearDown() override { std::signal(SIGABRT, SIG_DFL); }
};

TEST_P(FuzzSeeds, Hold) {
  const fs::path folder =
      fs::path(GT_SOURCE_DIR) / "tests/fuzz/corpus" / GetParam().name;
  std::vector<fs::path> seeds;
  for (const auto& entry : fs::directory_iterator(folder)) {
    seeds.push_back(entry.path());
  }
  ASSERT_FALSE(seeds.empty()) << folder;
  std::sort(seeds.begin(), seeds.end());
  for (const fs::path& path : seeds) {
    seed = path;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    // The bytes are copied, so that a read beyond their end is one beyond an
    // allocation.
    const std::vector<uint8_t> data(bytes.begin(), bytes.end());
    EXPECT_EQ(GetParam().run(data.data(), data.size()), 0) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, FuzzSeeds, testing::ValuesIn(kTargets),
                         [](const auto& target) {
                           return std::string(target.param.name);
                         });

}  // namespace
}  // namespace gt
