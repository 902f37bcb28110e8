// Which part of the tape a grad walks.
#pragma once

#include <unordered_set>
#include <vector>

#include "grad/reverse.h"
#include "grad/tape.h"

namespace gt {

struct History {
  std::vector<NodeId> nodes;            // behind the loss, newest first
  std::unordered_set<ValueId> reached;  // behind it, or the loss itself
  std::unordered_set<ValueId> wanted;   // on the way to a target, or one
  std::unordered_set<ValueId> targets;
};

History find_history(const Tape& tape, ValueId loss,
                     const std::vector<GradientTarget>& targets);

// A lost history that may have led to a target.
bool find_lost(const Tape& tape, ValueId loss,
               const std::vector<GradientTarget>& targets, LostTarget& lost);

}  // namespace gt
