#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/aside.h"
#include "base/io.h"

namespace gt {
namespace {

// A pipe that nobody reads takes 64 KiB; the writer does not wait for more
// room.
TEST(Aside, TheWriterDoesNotWait) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string block(size_t{1} << 20, 'x');
  std::string got(3 * block.size(), '\0');
  {
    Aside aside(ends[1], Aside::Failure::kStop);
    for (int i = 0; i < 3; ++i) aside.write(block);
    EXPECT_GT(aside.waiting(), block.size());
    EXPECT_FALSE(aside.wait(std::chrono::milliseconds(1)));
    for (size_t at = 0; at < got.size();) {
      const long n = read_some(ends[0], got.data() + at, got.size() - at);
      ASSERT_GT(n, 0);
      at += static_cast<size_t>(n);
    }
    EXPECT_TRUE(aside.wait());
    EXPECT_EQ(aside.waiting(), 0u);
    EXPECT_EQ(aside.errno_value(), 0);
  }
  EXPECT_EQ(got, block + block + block);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Aside, KeepsTheFirstError) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "there is no /dev/full";
  for (const auto failure : {Aside::Failure::kStop, Aside::Failure::kGoOn}) {
    Aside aside(full, failure);
    aside.write("a");
    EXPECT_TRUE(aside.wait());
    aside.write("b");
    EXPECT_TRUE(aside.wait());
    EXPECT_EQ(aside.errno_value(), ENOSPC);
  }
  ::close(full);
}

}  // namespace
}  // namespace gt
