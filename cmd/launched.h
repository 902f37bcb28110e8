// What torchrun and Slurm tell a process that they started: which of how many
// it is. A variable of torchrun's goes before Slurm's.
#pragma once

#include <cstdlib>
#include <string>

namespace gt::launched {

inline std::string first_of(const char* torchrun, const char* slurm) {
  for (const char* name : {torchrun, slurm}) {
    if (const char* value = std::getenv(name)) return value;
  }
  return "";
}

// Texts, "" if nobody has said so.
inline std::string rank() { return first_of("RANK", "SLURM_PROCID"); }
inline std::string processes() {
  return first_of("WORLD_SIZE", "SLURM_NTASKS");
}
inline std::string local_rank() {
  return first_of("LOCAL_RANK", "SLURM_LOCALID");
}
// Slurm's "2(x3),1" is of several hosts: that of the first counts.
inline std::string local_processes() {
  const std::string all = first_of("LOCAL_WORLD_SIZE", "SLURM_TASKS_PER_NODE");
  return all.substr(0, all.find_first_not_of("0123456789"));
}

}  // namespace gt::launched
