// Histories for people: what --tape prints.
#pragma once

#include <span>
#include <string>

#include "emit/ledger.h"
#include "emit/messages.h"

namespace gt::emit {

// Appends a line for each node, in the order given: the instruction, where it
// stands, its type, and the values whose data its gradient reads.
void append_history(const Ledger& ledger, const Messages& messages,
                    std::span<const NodeId> nodes, std::string& out);

}  // namespace gt::emit
