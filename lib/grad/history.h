// Finds the part of the tape that a grad goes through: what is behind its loss,
// and the part of that which leads to its targets.
#pragma once

#include <unordered_set>
#include <vector>

#include "grad/reverse.h"
#include "grad/tape.h"

namespace gt::grad {

// Calls goes_on(id) once for each value behind `from`, and for `from` itself.
// If it returns false, what that value was computed from is not visited.
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

// The part of a tape that a grad goes through.
struct History {
  // Reverse mode visits nodes in the order of their serial numbers.
  std::vector<NodeId> nodes;            // behind the loss, newest first
  std::unordered_set<ValueId> reached;  // behind the loss, or the loss itself
  std::unordered_set<ValueId> wanted;   // on the way to a target, or a target
  std::unordered_set<ValueId> targets;
};

// Finds what is behind the loss and leads to the targets.
History find_history(const Tape& tape, ValueId loss,
                     const std::vector<GradientTarget>& targets);

// True if a history that was consumed or forgotten may have led to a target.
// Then sets `lost` to the value that had it, and that target.
bool find_lost(const Tape& tape, ValueId loss,
               const std::vector<GradientTarget>& targets, LostTarget& lost);

}  // namespace gt::grad
