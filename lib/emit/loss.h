// Whether a loss may be differentiated: the implicit seed of one on every rank
// is right for a sum over the ranks (P) and for one number that all compute (I)
// alone.
#pragma once

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/messages.h"

namespace gt::emit {

// Of the loss, the first operand of a grad line. Error: it is neither, on which
// axis, where that comes from, and what makes it so.
Status check_loss(const Ledger& ledger, const Messages& messages,
                  const LineState& state, ValueId loss);

}  // namespace gt::emit
