#include "base/granted.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <thread>
#include <vector>

#include "base/io.h"
#include "base/text.h"

namespace gt {
namespace {

// Groups of the first kind say "no limit" with the largest number of pages.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;

// Returns what the file says; "" if it cannot be read.
std::string contents(const std::string& path) {
  std::string text;
  return read_whole(path, text) == 0 ? text : "";
}

template <typename Number>
void lower(Number& limit, Number to) {
  if (limit == 0 || to < limit) limit = to;
}

// Where a kind of groups is to be found: the directory that shows the group
// `root` and those below it.
struct Mount {
  std::string directory;
  std::string root;
};

// Decodes the \040 for a blank, and the like, that Linux writes in mountinfo.
std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '\\' && i + 3 < text.size();
    if (!is_code) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') * 64 +
                             (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

// Finds where groups of the controller are mounted, or with "" those of the
// second kind. A line of mountinfo is "36 35 98:0 /root /directory options
// [more...] - type source options".
bool find_mount(std::string_view mounts, std::string_view controller,
                Mount& found) {
  while (!mounts.empty()) {
    const auto words = words_of(take_word(mounts, "\n"));
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 6 || words.end() - dash < 4) continue;
    const bool is_it =
        controller.empty()
            ? dash[1] == "cgroup2"
            : dash[1] == "cgroup" && has_word(dash[3], controller, ",");
    if (!is_it) continue;
    found = {decoded(words[4]), decoded(words[3])};
    return true;
  }
  return false;
}

// Finds this process's group of the controller, or with "" that of the second
// kind. A line of /proc/self/cgroup is "4:cpu,cpuacct:/path", or "0::/path".
bool find_group(std::string_view groups, std::string_view controller,
                std::string& path) {
  while (!groups.empty()) {
    const std::string_view line = take_word(groups, "\n");
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view list = line.substr(first + 1, second - first - 1);
    const bool is_it =
        controller.empty() ? list.empty() : has_word(list, controller, ",");
    if (!is_it) continue;
    path = line.substr(second + 1);
    return true;
  }
  return false;
}

// Returns the directories of this process's group and of those above it, as far
// as they are shown here. In a container the group may lie outside of what is
// mounted; then what is mounted is the container's own group.
std::vector<std::string> directories(const std::string& root,
                                     const std::string& mounts,
                                     const std::string& groups,
                                     std::string_view controller) {
  Mount mount;
  std::string path;
  if (!find_mount(mounts, controller, mount) ||
      !find_group(groups, controller, path)) {
    return {};
  }
  if (mount.root == "/") mount.root.clear();
  std::string below;
  if (path.starts_with(mount.root + "/") &&
      path.find("/..") == std::string::npos) {
    below = path.substr(mount.root.size());
  }
  std::vector<std::string> out;
  while (!below.empty()) {
    out.push_back(root + mount.directory + below);
    below.resize(below.rfind('/'));
  }
  out.push_back(root + mount.directory);
  return out;
}

// Reads the numbers that the first line of a file consists of; false if it has
// something else.
bool read_line(const std::string& path,
               std::initializer_list<int64_t*> numbers) {
  const std::string text = contents(path);
  std::string_view line(text);
  line = line.substr(0, line.find('\n'));
  for (int64_t* number : numbers) {
    if (!read_number(take_word(line), *number)) return false;
  }
  return take_word(line).empty();
}

void take_quota(GroupLimits& limits, int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return;
  lower(limits.cores, static_cast<double>(quota) / static_cast<double>(period));
}

void take_memory(GroupLimits& limits, int64_t bytes) {
  if (bytes <= 0 || static_cast<uint64_t>(bytes) >= kNoLimit) return;
  lower(limits.memory, static_cast<size_t>(bytes));
}

// Returns the number of cores that this process is bound to.
unsigned bound_cores() {
  for (size_t cores = 1024; cores <= size_t{1} << 20; cores *= 2) {
    cpu_set_t* set = CPU_ALLOC(cores);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(cores);
    const bool is_known = ::sched_getaffinity(0, bytes, set) == 0;
    const bool is_small = !is_known && errno == EINVAL;
    const int count = is_known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (is_known) return static_cast<unsigned>(std::max(1, count));
    if (!is_small) break;
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

GroupLimits group_limits(const std::string& root) {
  GroupLimits limits;
  const std::string mounts = contents(root + "/proc/self/mountinfo");
  const std::string groups = contents(root + "/proc/self/cgroup");
  for (const std::string& group : directories(root, mounts, groups, "")) {
    // "200000 100000": so many microseconds in each period; or "max 100000".
    int64_t quota = 0, period = 0, bytes = 0;
    if (read_line(group + "/cpu.max", {&quota, &period})) {
      take_quota(limits, quota, period);
    }
    if (read_line(group + "/memory.max", {&bytes})) take_memory(limits, bytes);
  }
  for (const std::string& group : directories(root, mounts, groups, "cpu")) {
    int64_t quota = 0, period = 0;
    if (read_line(group + "/cpu.cfs_quota_us", {&quota}) &&
        read_line(group + "/cpu.cfs_period_us", {&period})) {
      take_quota(limits, quota, period);
    }
  }
  for (const std::string& group : directories(root, mounts, groups, "memory")) {
    int64_t bytes = 0;
    if (read_line(group + "/memory.limit_in_bytes", {&bytes})) {
      take_memory(limits, bytes);
    }
  }
  return limits;
}

unsigned granted_cores() {
  const unsigned cores = bound_cores();
  const double quota = group_limits().cores;
  // A part of a core is left: a thread that is stopped until the next period
  // makes all others wait for it.
  if (quota <= 0 || quota >= cores) return cores;
  return std::max(1U, static_cast<unsigned>(std::floor(quota)));
}

size_t memory_for_values(size_t limit, unsigned processes) {
  constexpr size_t kLeastMargin = size_t{256} << 20;
  const size_t share = limit / std::max(1U, processes);
  const size_t margin = std::max(kLeastMargin, share / 8);
  return share - std::min(margin, share / 2);
}

}  // namespace gt
