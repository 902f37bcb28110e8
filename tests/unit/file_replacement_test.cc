// A file takes the place of another one, while other programs remove files that
// were left behind.
#include "file/replacement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "file/place.h"

namespace gt {
namespace {

namespace fs = std::filesystem;

TEST(Replacement, IsLockedUntilItHasItsPlace) {
  std::string name = (fs::temp_directory_path() / "gt-place-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  const auto files = Files::make({});
  ASSERT_TRUE(files.ok());
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    const Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY));
    while (!is_over) {
      for (const auto& file : fs::directory_iterator(folder)) {
        const std::string other_name = file.path().filename();
        if (Replacement::is_name(other_name)) {
          remove_unless_written(directory, other_name);
        }
      }
    }
  });
  for (int i = 0; i < 300; ++i) {
    auto target = files.value().target((folder / "x").string());
    if (!target.ok()) {
      ADD_FAILURE() << target.error().message;
      break;
    }
    Replacement file(std::move(target.value()));
    const Status written = write_all(file.fd(), &i, sizeof i);
    const Status done = written.ok() ? file.commit() : written;
    EXPECT_TRUE(done.ok()) << i << ": " << done.error().message;
    if (!done.ok()) break;
  }
  is_over = true;
  other.join();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace gt
