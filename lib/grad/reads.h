// Which data an op's gradient lines read, by signature alone.
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
// gradient read. What a line's guards say of a call is left to may_apply().
struct GradientReads {
  std::vector<GradientRead> operands;
  std::vector<GradientRead> results;
  bool defined = false;  // the row has a line for this operand's gradient
};

// By the op's operand parameters. Computed once an op.
const std::vector<GradientReads>& gradient_reads(const Op& op);

}  // namespace gt::grad
