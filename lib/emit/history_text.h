// Histories for people: what --tape prints.
#pragma once

#include <span>
#include <string>

#include "emit/ledger.h"
#include "emit/messages.h"

namespace gt::emit {

// A line for each node: the instruction, where it stands, its type, and whose
// data its gradient reads.
void append_history(const Ledger& ledger, const Messages& messages,
                    std::span<const NodeId> nodes, std::string& out);

}  // namespace gt::emit
