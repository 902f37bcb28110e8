#include "file/safetensors_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gt {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

class SafetensorsCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gt-head-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  // Writes one tensor of that name, in a new file or in the old one.
  void put(const std::string& file, const std::string& tensor) const {
    SafetensorsHeader header;
    header.tensors.push_back(safetensors_entry(tensor, {Dtype::kU8, {1}}));
    header.tensors[0].end = 1;
    std::ofstream(folder / file, std::ios::binary)
        << safetensors_header(header) << '\0';
  }
  std::shared_ptr<const SafetensorsHeader> read(SafetensorsCache& cache,
                                                const std::string& file) const {
    const int fd = ::open((folder / file).c_str(), O_RDONLY | O_CLOEXEC);
    auto header = cache.read(fd);
    ::close(fd);
    EXPECT_TRUE(header.ok());
    return header.ok() ? header.value() : nullptr;
  }

  fs::path folder;
};

TEST_F(SafetensorsCacheTest, ParsesAFileOnce) {
  put("a", "x");
  put("b", "y");
  SafetensorsCache cache(nanoseconds(0));
  const auto a = read(cache, "a");
  const auto b = read(cache, "b");
  EXPECT_NE(a->find("x"), nullptr);
  EXPECT_NE(b->find("y"), nullptr);
  EXPECT_EQ(read(cache, "a"), a);
  EXPECT_EQ(read(cache, "b"), b);
}

TEST_F(SafetensorsCacheTest, SeesAFileThatTookAnothersPlace) {
  put("a", "x");
  put("b", "y");
  SafetensorsCache cache(nanoseconds(0));
  read(cache, "a");
  fs::rename(folder / "b", folder / "a");
  EXPECT_NE(read(cache, "a")->find("y"), nullptr);
}

TEST_F(SafetensorsCacheTest, SeesAFileThatGrew) {
  put("a", "x");
  SafetensorsCache cache(nanoseconds(0));
  read(cache, "a");
  put("a", "a tensor with a longer name");
  EXPECT_NE(read(cache, "a")->find("a tensor with a longer name"), nullptr);
}

// Two contents can look the same within a tick of the file system's clock.
TEST_F(SafetensorsCacheTest, TrustsNoFileThatHasJustChanged) {
  put("a", "x");
  SafetensorsCache cache(std::chrono::hours(1));
  read(cache, "a");
  put("a", "y");
  EXPECT_NE(read(cache, "a")->find("y"), nullptr);
}

TEST_F(SafetensorsCacheTest, ForgetsTheLeastUsed) {
  SafetensorsCache cache(nanoseconds(0));
  put("0", "x");
  put("1", "x");
  const auto first = read(cache, "0");
  const auto second = read(cache, "1");
  for (int i = 2; i < 65; ++i) {
    put(std::to_string(i), "x");
    read(cache, std::to_string(i));
    EXPECT_EQ(read(cache, "0"), first);
  }
  EXPECT_NE(read(cache, "1"), second);
}

TEST_F(SafetensorsCacheTest, KeepsNothingOfAFileThatIsNone) {
  std::ofstream(folder / "a") << "no header";
  SafetensorsCache cache(nanoseconds(0));
  const int fd = ::open((folder / "a").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(cache.read(fd).ok());
  EXPECT_FALSE(cache.read(fd).ok());
  ::close(fd);
}

}  // namespace
}  // namespace gt
