// The loops for AVX2 with FMA and F16C.
#define GT_ISA on_avx2
#include "exec/backend/cpu/loop_table.h"

namespace gt::exec::cpu {

const Loops& avx2_loops() { return on_avx2::kLoops; }

}  // namespace gt::exec::cpu
