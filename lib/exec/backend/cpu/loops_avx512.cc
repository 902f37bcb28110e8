// The loops for AVX-512 (F, BW, DQ, VL).
#define GT_ISA on_avx512
#include "exec/backend/cpu/loop_table.h"

namespace gt::exec::cpu {

const Loops& avx512_loops() { return on_avx512::kLoops; }

}  // namespace gt::exec::cpu
