// Which data the gradient of an op reads, by the op's row alone: so the tape
// knows, before any grad, which values' data must be kept.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op.h"

namespace gt::grad {

// A parameter of an operand or a result, and the row's line that reads it.
struct GradientRead {
  uint32_t parameter;
  const TextLine* line;
};

// For one operand: the operands and results whose data the lines behind its
// gradient read. A line that is for some calls only counts as well; whether it
// applies to a call, may_apply() (ops/text.h) says.
struct GradientReads {
  std::vector<GradientRead> operands;
  std::vector<GradientRead> results;
  // The row has a line for this operand's gradient. What becomes of a grad that
  // needs one without: node_gradient.h.
  bool defined = false;
};

// One for each of the op's operand parameters; computed when first asked for.
const std::vector<GradientReads>& gradient_reads(const Op& op);

}  // namespace gt::grad
