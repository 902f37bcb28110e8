// The sizes of an attention, for its rows of the op table and for the kernels.
#pragma once

#include "ops/call.h"

namespace gt {

// The operands are q [lead,rows,heads*depth], k [lead,columns,heads*depth] and
// v [lead,columns,heads*width]; the results o [lead,rows,heads*width] and lse,
// the logarithm of the sums that softmax divides by, [lead,rows], or
// [lead,heads,rows] with heads=. With enable_gqa=1 each head of k and v is
// shared by `group` heads of q; heads are counted by heads=, or by the last
// leading dimension.
struct Attention {
  Shape lead;  // the leading dimensions of q, k and v, broadcast together
  int64_t heads = 1;
  int64_t group = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t width = 0;
  bool causal = false;
  // If causal, row i sees the columns up to first + i. `first` is not 0 if
  // part= says that these rows are a block of a larger whole.
  int64_t first = 0;
  double scale = 1;  // factor of the scores
  // The mask: "none", "bool" (which scores count), or "float" (added to the
  // scores).
  const char* masked = "none";
};

// True for attention, and for its gradient; their first operands are q, k and
// v.
bool is_attention(const Op& op);
bool is_attention_gradient(const Op& op);

// Returns the sizes of a call of attention or attention_grad, whose first
// operands are q, k and v. Errors: sizes that do not fit together.
Result<Attention> attention_of(const Call& call);

}  // namespace gt
