// Histories as text for people: what --tape prints, and what "#tape NAME" asks
// for.
#pragma once

#include <span>
#include <string>

#include "emit/ledger.h"
#include "emit/messages.h"

namespace gt::emit {

// Appends a line for each node, in the order given: the instruction, its place,
// its type, and the values whose data its gradient reads.
void append_history(const Ledger& ledger, const Messages& messages,
                    std::span<const NodeId> nodes, std::string& out);

// Appends the history behind a value as a program, the oldest line first, each
// line with the type of its result: "y = matmul x w  # f32[8,2]". Values that
// no user's name holds any more are called v0, v1 and so on.
void append_history(const Ledger& ledger, ValueId of, std::string& out);

// Appends the lines that carry the answer to "#tape NAME" among the results:
// "#sync tape:PART". The parts together are the text, with %XX for bytes that a
// comment's word cannot have.
void append_tape_marks(std::string_view text, std::string& out);

}  // namespace gt::emit
