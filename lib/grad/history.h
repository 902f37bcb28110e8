// Which part of the tape a grad goes through: what stands behind its loss, and
// of that what leads to its targets.
#pragma once

#include <unordered_set>
#include <vector>

#include "grad/reverse.h"
#include "grad/tape.h"

namespace gt::grad {

// Calls goes_on(id) once for each value behind `from`, itself included;
// where it says false, what that value was computed of is not looked at.
template <typename GoesOn>
void walk_back(const Tape& tape, ValueId from, const GoesOn& goes_on) {
  std::unordered_set<ValueId> seen;
  std::vector<ValueId> open = {from};
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const NodeId producer = goes_on(id) ? tape.producer(id) : kNil;
    if (producer == kNil) continue;
    tape.each_operand(producer, [&](ValueId v) { open.push_back(v); });
  }
}

struct History {
  // The order in which reverse mode takes the nodes: by serial number.
  std::vector<NodeId> nodes;            // behind the loss, newest first
  std::unordered_set<ValueId> reached;  // behind it, or the loss itself
  std::unordered_set<ValueId> wanted;   // on the way to a target, or one
  std::unordered_set<ValueId> targets;
};

History find_history(const Tape& tape, ValueId loss,
                     const std::vector<GradientTarget>& targets);

// Whether a history that was consumed or forgotten may have led to a target;
// then `lost` becomes the value that had it, and that target.
bool find_lost(const Tape& tape, ValueId loss,
               const std::vector<GradientTarget>& targets, LostTarget& lost);

}  // namespace gt::grad
