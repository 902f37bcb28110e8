// A file that takes another's place, while other programs look for files that
// were left behind.
#include "file/replacement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace gt {
namespace {

namespace fs = std::filesystem;

// Removes each temporary file that nobody has locked, as a program does that
// begins to write in the directory.
void remove_unlocked(const fs::path& folder) {
  std::error_code failed;
  for (fs::directory_iterator file(folder, failed), end; !failed && file != end;
       file.increment(failed)) {
    const fs::path& path = file->path();
    if (path.extension() != ".gt-save") continue;
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.ok() && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      ::unlink(path.c_str());
    }
  }
}

TEST(Replacement, IsLockedUntilItHasItsPlace) {
  std::string name = (fs::temp_directory_path() / "gt-place-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  const auto files = Files::make({});
  ASSERT_TRUE(files.ok());
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) remove_unlocked(folder);
  });
  for (int i = 0; i < 1000; ++i) {
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
