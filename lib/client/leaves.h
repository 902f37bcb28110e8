// Leaves: the values of a session that require a gradient, and which of them
// went into each value.
#pragma once

#include <vector>

#include "base/number_pool.h"
#include "client/reach.h"
#include "client/value.h"

namespace gt::client {

class Leaves {
 public:
  // add() makes the value a leaf, whose reach is itself alone; remove() undoes
  // that.
  void add(gt_value& value) {
    value.leaf = static_cast<LeafId>(numbers_.take());
    if (value.leaf >= leaves_.size()) leaves_.resize(value.leaf + 1);
    leaves_[value.leaf] = &value;
    value.reach = reaches_.of(value.leaf);
  }
  void remove(gt_value& value) {
    if (value.leaf == kNoLeaf) return;
    leaves_[value.leaf] = nullptr;
    numbers_.give(value.leaf);
    value.leaf = kNoLeaf;
    value.reach = Reaches::kNone;
  }

  // Returns the leaves that went into any of the call's operands.
  Reach reach_of(const gt_instruction& call) {
    Reach reach = Reaches::kNone;
    for (size_t i = 0; i < call.operand_count; ++i) {
      if (call.operands[i].kind != GT_VALUE) continue;
      reach = reaches_.join(reach, call.operands[i].value->reach);
    }
    return reach;
  }
  // Returns the leaves of a reach that still exist.
  std::vector<gt_value*> in(Reach reach) const {
    std::vector<gt_value*> out;
    for (const LeafId leaf : reaches_.leaves(reach)) {
      if (leaves_[leaf] != nullptr) out.push_back(leaves_[leaf]);
    }
    return out;
  }
  // Once there are many sets, forgets those that no value in the list has.
  void tidy(const gt_value* values);

 private:
  Reaches reaches_;
  NumberPool numbers_;
  std::vector<gt_value*> leaves_;  // indexed by LeafId; null: removed
};

}  // namespace gt::client
