// What this process takes of the machine, as top(1) tells it.
#pragma once

#include <cstdint>

namespace gt {

struct ProcessUse {
  uint64_t cpu_ns = 0;    // time on all cores together, of user and system
  uint64_t resident = 0;  // bytes of memory; 0: not known
};
ProcessUse process_use();

}  // namespace gt
