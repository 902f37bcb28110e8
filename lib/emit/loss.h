// Checks whether a loss with ranks may be differentiated. The backward pass
// begins with a gradient of 1 on every rank. That is right only if the ranks'
// losses are summands of one sum (P), or if all ranks compute one and the same
// number (I); for other letters (spmd/placement.h) it would count some ranks
// twice.
#pragma once

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/messages.h"

namespace gt::emit {

// Checks the loss, the first operand of the grad line in `state`. Error: the
// axis on which it is neither P nor I, where that comes from, and which line
// would make it so.
Status check_loss(const Ledger& ledger, const Messages& messages,
                  const LineState& state, ValueId loss);

}  // namespace gt::emit
