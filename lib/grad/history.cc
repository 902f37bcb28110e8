#include "grad/history.h"

#include <algorithm>

namespace gt {
namespace {

void collect(const Tape& tape, ValueId loss, History& history) {
  std::unordered_set<NodeId> seen;
  std::vector<ValueId> open = {loss};
  while (!open.empty()) {
    const NodeId node = tape.value(open.back()).producer;
    history.reached.insert(open.back());
    open.pop_back();
    if (node == kNil || !seen.insert(node).second) continue;
    history.nodes.push_back(node);
    for (const ValueId v : tape.node(node).operands()) {
      if (v != kNil) open.push_back(v);
    }
  }
  std::sort(history.nodes.begin(), history.nodes.end(),
            [&tape](NodeId a, NodeId b) {
              return tape.node(a).serial > tape.node(b).serial;
            });
}

// Values from which a target can be reached, targets included.
void mark_wanted(const Tape& tape, History& history) {
  std::unordered_set<ValueId>& wanted = history.wanted;
  for (const ValueId t : history.targets) {
    if (history.reached.count(t) > 0) wanted.insert(t);
  }
  for (auto it = history.nodes.rbegin(); it != history.nodes.rend(); ++it) {
    const Node& n = tape.node(*it);
    const bool leads = std::any_of(
        n.operands().begin(), n.operands().end(),
        [&](ValueId v) { return v != kNil && wanted.count(v) > 0; });
    if (!leads) continue;
    for (const ValueId r : n.results()) {
      if (r != kNil && tape.value(r).differentiable) wanted.insert(r);
    }
  }
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

// A lost history can only have read values that are older than its result.
// Behind a target nothing matters to that target.
bool find_lost(const Tape& tape, ValueId loss,
               const std::vector<GradientTarget>& targets, LostTarget& lost) {
  for (size_t t = 0; t < targets.size(); ++t) {
    for (const ValueOnRanks& part : targets[t].parts) {
      const uint64_t serial = tape.value(part.value).serial;
      std::unordered_set<ValueId> seen;
      std::vector<ValueId> open = {loss};
      while (!open.empty()) {
        const ValueId id = open.back();
        open.pop_back();
        if (id == part.value || !seen.insert(id).second) continue;
        const Value& v = tape.value(id);
        if (v.serial < serial) continue;
        if (v.producer == kNil) {
          if (!v.lost.hides_targets() || !v.hidden.may_be(serial)) continue;
          lost = {id, t};
          return true;
        }
        for (const ValueId operand : tape.node(v.producer).operands()) {
          if (operand != kNil) open.push_back(operand);
        }
      }
    }
  }
  return false;
}

}  // namespace gt
