// What the machine grants this process, which may be less than it has: a
// container has a quota of processor time and a limit on memory, a batch system
// or taskset binds a process to some cores. Linux says so in control groups and
// in the process's affinity.
#pragma once

#include <cstddef>
#include <string>

namespace gt {

// Returns how many threads of this process can compute at once, at least 1: the
// cores that it is bound to, or fewer if its control groups have a quota of
// less.
unsigned granted_cores();

// What control groups allow; 0 stands for no limit.
struct GroupLimits {
  double cores = 0;
  size_t memory = 0;  // bytes
};

// Returns the least that the control groups of this process allow: its own
// groups, of the first and the second kind, and all groups above them. Paths
// begin below `root`, the files in /proc as well as the groups.
GroupLimits group_limits(const std::string& root = "");

// Returns how many bytes a process may keep in values so that a limit on its
// memory does not kill it, if `processes` share the limit evenly. The rest is
// for what is not a value: code, text, what kernels need beside their results.
size_t memory_for_values(size_t limit, unsigned processes);

}  // namespace gt
