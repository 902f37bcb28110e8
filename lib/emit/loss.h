// Whether a loss with ranks may be differentiated. Backward begins with a
// gradient of 1 on every rank. That is right only where the ranks' losses are
// summands of one sum (P), or where all ranks compute one and the same number
// (I); for other letters (spmd/placement.h) it would count some ranks twice.
#pragma once

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/messages.h"

namespace gt::emit {

// Checks the loss, the first operand of the grad line in `state`. Error: on
// which axis it is neither P nor I, where that comes from, and which line would
// make it so.
Status check_loss(const Ledger& ledger, const Messages& messages,
                  const LineState& state, ValueId loss);

}  // namespace gt::emit
