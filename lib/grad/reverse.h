// Reverse mode as text: the lines that compute gradients of one loss.
//
// Nodes are visited from the newest to the oldest, each row's gradient text
// made concrete for it (ops/text.h); contributions to one value are added up;
// a contribution is summed to its value's shape, the adjoint of broadcasting.
// Source: A. Griewank, A. Walther, Evaluating Derivatives, SIAM 2008, ch. 3.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grad/tape.h"
#include "grad/type_ids.h"

namespace gt {

// A gradient value; names are given when the lines are written.
using Handle = uint32_t;

struct GradientOperand {
  enum class Kind : uint8_t { kHandle, kForward, kText };
  Kind kind;
  uint32_t id = 0;   // Handle or ValueId
  std::string text;  // of kText
};

struct GradientLine {
  const Op* op;
  std::vector<Handle> results;
  std::vector<GradientOperand> operands;
  std::vector<std::pair<std::string, std::string>> keys;
  std::string notes;  // the forward line's #signal and #mb
};

struct GradientProgram {
  std::vector<GradientLine> lines;
  std::vector<TypeId> handle_types;
  std::vector<Handle> targets;  // as asked for; kNil: the loss does not reach
  std::vector<NodeId> history;  // all nodes behind the loss, newest first
};

// What stands between a loss and a target.
struct LostTarget {
  ValueId value = kNil;  // whose history is lost
  size_t target = 0;
};

// The loss must be a float scalar. When a target is not reached and a lost
// history may have led to it, `lost` is set and the program is empty.
GradientProgram reverse(const Tape& tape, TypeIds& types, ValueId loss,
                        const std::vector<ValueId>& targets, LostTarget& lost);

}  // namespace gt
