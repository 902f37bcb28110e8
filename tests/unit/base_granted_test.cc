// What control groups grant a process, by trees of files as Linux shows them.
#include "base/granted.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gt {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class Granted : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/granted.XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    root_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  // A machine with the groups of the second kind alone, in which this process
  // is in the group `path`.
  void second_kind(const std::string& path,
                   const std::string& mount_root = "/") const {
    write("/proc/self/cgroup", "0::" + path + "\n");
    write("/proc/self/mountinfo",
          "22 1 0:21 / /proc rw - proc proc rw\n"
          "30 23 0:26 " +
              mount_root +
              " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void first_kind(const std::string& path,
                  const std::string& mount_root = "/") const {
    write("/proc/self/cgroup", "5:memory:" + path + "\n4:cpu,cpuacct:" + path +
                                   "\n3:cpuset:/\n1:name=systemd:/x\n");
    write("/proc/self/mountinfo",
          "31 30 0:27 " + mount_root +
              " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
              "32 30 0:28 " +
              mount_root +
              " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }
  GroupLimits limits() const { return group_limits(root_); }

  std::string root_;
};

TEST_F(Granted, NothingIsLimitedWhereNothingSaysSo) {
  EXPECT_EQ(limits().cores, 0);
  EXPECT_EQ(limits().memory, 0U);
  second_kind("/");
  EXPECT_EQ(limits().cores, 0);
  EXPECT_EQ(limits().memory, 0U);
  second_kind("/user.slice/job");
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/user.slice/job/memory.max", "max\n");
  EXPECT_EQ(limits().cores, 0);
  EXPECT_EQ(limits().memory, 0U);
}

TEST_F(Granted, AGroupOfTheSecondKindSaysItsOwnLimits) {
  second_kind("/docker/c1");
  write("/sys/fs/cgroup/docker/c1/cpu.max", "250000 100000\n");
  write("/sys/fs/cgroup/docker/c1/memory.max", "1073741824\n");
  EXPECT_EQ(limits().cores, 2.5);
  EXPECT_EQ(limits().memory, 1024 * kMiB);
  // Such a line is longer than what a string keeps in itself.
  write("/sys/fs/cgroup/docker/c1/cpu.max", "350000000000 100000000000\n");
  EXPECT_EQ(limits().cores, 3.5);
}

TEST_F(Granted, TheLeastOfAllGroupsAboveHolds) {
  second_kind("/a/b/c");
  write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  write("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/a/memory.max", "104857600\n");
  write("/sys/fs/cgroup/a/b/c/memory.max", "209715200\n");
  // A group beside those of this process does not matter.
  write("/sys/fs/cgroup/a/other/memory.max", "4096\n");
  EXPECT_EQ(limits().cores, 0.5);
  EXPECT_EQ(limits().memory, 100 * kMiB);
}

TEST_F(Granted, InAContainerItsOwnGroupIsTheRoot) {
  // With a name space of groups the container's group is "/".
  second_kind("/");
  write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  write("/sys/fs/cgroup/memory.max", "268435456\n");
  EXPECT_EQ(limits().cores, 1);
  EXPECT_EQ(limits().memory, 256 * kMiB);
  // Without one its path is the host's, of which the mount shows a part.
  first_kind("/docker/c1/inner", "/docker/c1");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "52428800\n");
  EXPECT_EQ(limits().cores, 3);
  EXPECT_EQ(limits().memory, 50 * kMiB);
  // A process that was moved out of its name space has a path outside of it.
  second_kind("/../elsewhere");
  EXPECT_EQ(limits().memory, 256 * kMiB);
}

TEST_F(Granted, AGroupOfTheFirstKindSaysItsOwnLimits) {
  first_kind("/jobs/7");
  const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct";
  const std::string memory = "/sys/fs/cgroup/memory";
  write(cpu + "/cpu.cfs_quota_us", "-1\n");
  write(cpu + "/cpu.cfs_period_us", "100000\n");
  write(memory + "/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limits().cores, 0);
  EXPECT_EQ(limits().memory, 0U);
  write(cpu + "/jobs/7/cpu.cfs_quota_us", "400000\n");
  write(cpu + "/jobs/7/cpu.cfs_period_us", "100000\n");
  write(memory + "/jobs/7/memory.limit_in_bytes", "9223372036854771712\n");
  write(memory + "/jobs/memory.limit_in_bytes", "73400320\n");
  EXPECT_EQ(limits().cores, 4);
  EXPECT_EQ(limits().memory, 70 * kMiB);
}

TEST_F(Granted, BothKindsMayBeThereAtOnce) {
  write("/proc/self/cgroup", "2:memory:/v1\n0::/v2\n");
  write("/proc/self/mountinfo",
        "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 30 0:28 / /sys/fs/cgroup/a\\040blank rw - cgroup2 none rw\n");
  write("/sys/fs/cgroup/memory/v1/memory.limit_in_bytes", "104857600\n");
  write("/sys/fs/cgroup/a blank/v2/cpu.max", "200000 100000\n");
  EXPECT_EQ(limits().cores, 2);
  EXPECT_EQ(limits().memory, 100 * kMiB);
}

TEST_F(Granted, FilesThatSaySomethingElseLimitNothing) {
  second_kind("/x");
  for (const char* text : {"", "\n", "0 0\n", "-5 100000\n", "1\n", "a b\n",
                           "100000 0\n", "99999999999999999999 1\n"}) {
    write("/sys/fs/cgroup/x/cpu.max", text);
    EXPECT_EQ(limits().cores, 0) << text;
  }
  for (const char* text : {"", "\n", "0\n", "-1\n", "12 13\n", "1G\n"}) {
    write("/sys/fs/cgroup/x/memory.max", text);
    EXPECT_EQ(limits().memory, 0U) << text;
  }
  write("/proc/self/mountinfo", "a b c - cgroup2\n- - - -\n\n30 23");
  write("/proc/self/cgroup", "0:\n:\n::\n");
  EXPECT_EQ(limits().cores, 0);
}

TEST(MemoryForValues, LeavesAMarginAndIsShared) {
  // An eighth, at least 256 MiB, and at most half.
  EXPECT_EQ(memory_for_values(8192 * kMiB, 1), 7168 * kMiB);
  EXPECT_EQ(memory_for_values(1024 * kMiB, 1), 768 * kMiB);
  EXPECT_EQ(memory_for_values(100 * kMiB, 1), 50 * kMiB);
  EXPECT_EQ(memory_for_values(8192 * kMiB, 4), 1792 * kMiB);
  EXPECT_EQ(memory_for_values(8192 * kMiB, 0), 7168 * kMiB);
}

}  // namespace
}  // namespace gt
