// Finds the data that the gradient of an op reads, from the op's row alone, so
// that the tape knows before any grad which values' data must be kept.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op.h"

namespace gt::grad {

// An operand or result parameter, and the row's line that reads it.
struct GradientRead {
  uint32_t parameter;
  const TextLine* line;
};

// For one operand: the operands and results whose data the lines behind its
// gradient read. A line that only some calls have counts as well; may_apply()
// (ops/text.h) says whether a call has it.
struct GradientReads {
  std::vector<GradientRead> operands;
  std::vector<GradientRead> results;
  // True if the row has a line for this operand's gradient. node_gradient.h
  // says what a grad does that needs one and finds none.
  bool defined = false;
};

// Returns one for each of the op's operand parameters; computed when first
// asked for.
const std::vector<GradientReads>& gradient_reads(const Op& op);

}  // namespace gt::grad
