#include "grad/history.h"

#include <algorithm>

namespace gt::grad {
namespace {

void collect(const Tape& tape, ValueId loss, History& history) {
  std::unordered_set<NodeId> seen;
  walk_back(tape, loss, [&](ValueId id) {
    history.reached.insert(id);
    const NodeId producer = tape.producer(id);
    if (producer == kNil || !seen.insert(producer).second) return false;
    history.nodes.push_back(producer);
    return true;
  });
  std::sort(
      history.nodes.begin(), history.nodes.end(),
      [&tape](NodeId a, NodeId b) { return tape.serial(a) > tape.serial(b); });
}

// Marks the values from which a target can be reached, targets included.
void mark_wanted(const Tape& tape, History& history) {
  std::unordered_set<ValueId>& wanted = history.wanted;
  for (const ValueId t : history.targets) {
    if (history.reached.count(t) > 0) wanted.insert(t);
  }
  for (auto it = history.nodes.rbegin(); it != history.nodes.rend(); ++it) {
    bool leads = false;
    tape.each_operand(*it,
                      [&](ValueId v) { leads = leads || wanted.count(v) > 0; });
    if (!leads) continue;
    for (const ValueId r : tape.node(*it).results) {
      if (r != kNil && tape.is_differentiable(r)) wanted.insert(r);
    }
  }
}

// Returns the values behind the loss whose own history is lost and may hide
// targets.
std::vector<ValueId> lost_ends(const Tape& tape, ValueId loss) {
  std::vector<ValueId> ends;
  walk_back(tape, loss, [&](ValueId id) {
    const bool is_end = tape.producer(id) == kNil;
    if (is_end && tape.lost(id).hides_targets()) ends.push_back(id);
    return true;
  });
  return ends;
}

bool may_hide(const Tape& tape, ValueId end, ValueId target) {
  const uint64_t serial = tape.serial(target);
  return end != target && tape.serial(end) >= serial &&
         tape.consumed_targets(end).may_be(serial);
}

// Returns such a value that is reached without passing the target; or kNil.
ValueId lost_between(const Tape& tape, ValueId loss, ValueId target) {
  ValueId found = kNil;
  walk_back(tape, loss, [&](ValueId id) {
    if (found != kNil || id == target) return false;
    if (tape.serial(id) < tape.serial(target)) return false;
    if (tape.producer(id) == kNil && tape.lost(id).hides_targets() &&
        may_hide(tape, id, target)) {
      found = id;
    }
    return true;
  });
  return found;
}

}  // namespace

History find_history(const Tape& tape, ValueId loss,
                     const std::vector<GradientTarget>& targets) {
  History history;
  for (const GradientTarget& target : targets) {
    for (const ValueOnRanks& part : target.parts) {
      history.targets.insert(part.value);
    }
  }
  collect(tape, loss, history);
  mark_wanted(tape, history);
  return history;
}

// A lost history can only have read values that are older than its result. What
// is behind a target does not matter for that target.
bool find_lost(const Tape& tape, ValueId loss,
               const std::vector<GradientTarget>& targets, LostTarget& lost) {
  const std::vector<ValueId> ends = lost_ends(tape, loss);
  for (size_t t = 0; t < targets.size(); ++t) {
    for (const ValueOnRanks& part : targets[t].parts) {
      const auto hides = [&](ValueId end) {
        return may_hide(tape, end, part.value);
      };
      // Targets and lines behind the loss may both be many, so this check comes
      // first.
      if (std::none_of(ends.begin(), ends.end(), hides)) continue;
      lost = {lost_between(tape, loss, part.value), t};
      if (lost.value != kNil) return true;
    }
  }
  return false;
}

}  // namespace gt::grad
