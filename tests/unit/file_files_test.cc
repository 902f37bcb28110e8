// Which files the roots allow, after symbolic links are followed.
#include "file/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "file/npy_write.h"

namespace gt {
namespace {

namespace fs = std::filesystem;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gt_files_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    top_ = fs::canonical(name);
    for (const char* user : {"ann", "bob"}) {
      fs::create_directories(top_ / "files" / user / "deep");
      std::ofstream(top_ / "files" / user / "x") << user;
      std::ofstream(top_ / "files" / user / "deep" / "x") << user;
    }
    fs::create_symlink("../bob", top_ / "files/ann/other");
    fs::create_symlink("../bob/x", top_ / "files/ann/theirs");
    fs::create_symlink("deep", top_ / "files/ann/within");
    fs::create_symlink("ann", top_ / "files/carl");
    fs::create_symlink("files", top_ / "link");
    std::ofstream(top_ / "files" / "x") << "of nobody";
  }
  void TearDown() override { fs::remove_all(top_); }

  bool opens(const Files& files, const std::string& path) const {
    return files.open((top_ / path).string()).ok();
  }
  bool may_write(const Files& files, const std::string& path) const {
    return files.target((top_ / path).string()).ok();
  }
  Files with(const std::string& root) const {
    return Files::make({(top_ / root).string()}).value();
  }

  fs::path top_;
};

TEST_F(FilesTest, OneRootIsOnePlace) {
  const Files files = with("files");
  for (const char* path : {"files/ann/x", "files/ann/other/x", "files/x",
                           "files/ann/theirs", "files/carl/x", "link/ann/x"}) {
    EXPECT_TRUE(opens(files, path)) << path;
  }
  EXPECT_FALSE(opens(with("files/ann"), "files/ann/other/x"));
}

TEST_F(FilesTest, AnOpenFileWithoutANameIsWrittenWhereItLies) {
  const Fd nameless(::memfd_create("test", MFD_CLOEXEC));
  const auto path_of = [](const Fd& fd) {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" +
           std::to_string(fd.get());
  };
  const Files files = Files::make({}).value();
  EXPECT_TRUE(files.open_nameless(path_of(nameless)).ok());
  // A file with a name is replaced under its name, whatever path leads to it.
  const Fd named(::open((top_ / "files/x").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(files.open_nameless(path_of(named)).ok());
  EXPECT_FALSE(files.open_nameless((top_ / "files/x").string()).ok());
  EXPECT_FALSE(with("files").open_nameless(path_of(nameless)).ok());

  // Afterwards the file has the new bytes and nothing else.
  const Type large{Dtype::kF32, Shape({500})}, small{Dtype::kF32, Shape({2})};
  const std::vector<float> values(500, 1.5F);
  ASSERT_TRUE(
      save_npy(files, path_of(nameless), large, {values.data(), large.bytes()})
          .ok());
  ASSERT_TRUE(
      save_npy(files, path_of(nameless), small, {values.data(), small.bytes()})
          .ok());
  const auto header = read_npy_header(nameless.get());
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header.value().type, small);
  struct stat about {};
  ASSERT_EQ(::fstat(nameless.get(), &about), 0);
  EXPECT_EQ(static_cast<size_t>(about.st_size),
            header.value().data_offset + small.bytes());
}

TEST_F(FilesTest, EachDirectoryOfManyIsARootOfItsOwn) {
  const Files files = with("files/*");
  for (const char* path :
       {"files/ann/x", "files/ann/within/x", "files/bob/deep/x", "link/ann/x",
        "files//ann/x", "files/./ann/../ann/x"}) {
    EXPECT_TRUE(opens(files, path)) << path;
  }
  for (const char* path : {"files/ann/other/x", "files/ann/theirs",
                           "files/carl/x", "files/x", "files/ann/../bob/x"}) {
    EXPECT_FALSE(opens(files, path)) << path;
    EXPECT_FALSE(may_write(files, path)) << path;
  }
  EXPECT_TRUE(may_write(files, "files/ann/new"));
  EXPECT_FALSE(may_write(files, "files/ann/other/new"));
  EXPECT_FALSE(may_write(files, "files/new"));
  EXPECT_TRUE(files.make_parents((top_ / "files/ann/a/b/c").string()).ok());
  EXPECT_FALSE(
      files.make_parents((top_ / "files/ann/other/a/b").string()).ok());
  EXPECT_FALSE(fs::exists(top_ / "files/bob/a"));
}

TEST_F(FilesTest, DirectoriesAreMadeAlongAPathAndNotWithoutEnd) {
  const Files files = with("files/*");
  const std::string top = (top_ / "files/ann").string();
  const auto nested = [&](int parts) {
    std::string path = top;
    for (int i = 0; i < parts; ++i) path += "/d";
    return path + "/x";
  };
  ASSERT_TRUE(files.make_parents(nested(200)).ok());
  EXPECT_TRUE(fs::is_directory(fs::path(nested(200)).parent_path()));
  EXPECT_TRUE(files.make_parents(nested(200)).ok());
  const Status refused = files.make_parents(nested(1000));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find(" parts; it may have 256"),
            std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(files.open(nested(1000)).ok());
  // Parts that name no directory of their own.
  EXPECT_TRUE(files.make_parents(top + "//e/.//f/../g/x").ok());
  EXPECT_TRUE(fs::is_directory(top + "/e/f"));
  EXPECT_TRUE(fs::is_directory(top + "/e/g"));
  EXPECT_FALSE(files.make_parents(top + "/e/h/../../../bob/i/x").ok());
  EXPECT_FALSE(fs::exists(top_ / "files/bob/i"));
  // A file in the way, and a link that leads outside, to a directory that is
  // not there.
  std::ofstream(top + "/e/file") << "x";
  EXPECT_FALSE(files.make_parents(top + "/e/file/a/x").ok());
  fs::create_symlink(top_ / "files/bob/new", top + "/e/away");
  EXPECT_FALSE(files.make_parents(top + "/e/away/a/x").ok());
  EXPECT_FALSE(fs::exists(top_ / "files/bob/new"));
}

TEST_F(FilesTest, RelativePathsAreSeenFromHere) {
  const fs::path before = fs::current_path();
  fs::current_path(top_ / "files");
  const Files files = with("files/*");
  EXPECT_TRUE(files.open("ann/x").ok());
  EXPECT_FALSE(files.open("ann/other/x").ok());
  fs::current_path(top_ / "files/ann");
  EXPECT_FALSE(files.open("../bob/../ann/x").ok());
  fs::current_path(before);
}

}  // namespace
}  // namespace gt
