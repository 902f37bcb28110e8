// The sizes of an attention, for its row and for kernels.
#pragma once

#include "ops/call.h"

namespace gt {

// q [lead,rows,heads*depth], k [lead,columns,heads*depth], v
// [lead,columns,heads*width]; o [lead,rows,heads*width]; lse [lead,rows], or
// [lead,heads,rows] where heads= is given. Of enable_gqa=1, `group` heads of q
// share one of k and v: those of heads=, or the last of the lead.
struct Attention {
  Shape lead;  // leading dimensions broadcast together
  int64_t heads = 1;
  int64_t group = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t width = 0;
  bool causal = false;
  int64_t first = 0;  // row i sees the columns up to first + i, by part=
  double scale = 1;
  const char* masked = "none";  // or "bool", or "float": it is added
};

// Of a call of attention or attention_grad, whose operands begin q k v.
// Errors: sizes that do not go together.
Result<Attention> attention_of(const Call& call);

}  // namespace gt
