// The loops for any x86-64, with SSE2.
#define GT_ISA on_base
#include "exec/backend/cpu/loop_table.h"

namespace gt::exec::cpu {

const Loops& base_loops() { return on_base::kLoops; }

}  // namespace gt::exec::cpu
