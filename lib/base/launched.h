// What torchrun and Slurm tell a process that they started: its number, and how
// many processes there are. A variable of torchrun takes precedence over
// Slurm's.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace gt::launched {

inline std::string first_of(const char* torchrun, const char* slurm) {
  for (const char* name : {torchrun, slurm}) {
    if (const char* value = std::getenv(name)) return value;
  }
  return "";
}

// These return texts; "" if no launcher has set the variable.
inline std::string rank() { return first_of("RANK", "SLURM_PROCID"); }
inline std::string processes() {
  return first_of("WORLD_SIZE", "SLURM_NTASKS");
}
inline std::string local_rank() {
  return first_of("LOCAL_RANK", "SLURM_LOCALID");
}
// Slurm's "2(x3),1" is for several hosts: the number of the first is used.
inline std::string local_processes() {
  const std::string all = first_of("LOCAL_WORLD_SIZE", "SLURM_TASKS_PER_NODE");
  return all.substr(0, all.find_first_not_of("0123456789"));
}

// True if Slurm has bound this process to cores of its own, so that the
// processes beside it do not share them.
inline bool is_bound_alone() {
  const char* kind = std::getenv("SLURM_CPU_BIND_TYPE");
  if (kind == nullptr || std::getenv("LOCAL_WORLD_SIZE") != nullptr) {
    return false;
  }
  const std::string_view text = kind;
  return text.starts_with("mask_cpu") || text.starts_with("map_cpu");
}

}  // namespace gt::launched
