// Which data an op's gradient lines read, by signature alone.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op.h"

namespace gt {

// For one operand: the parameters of operands and results whose data the lines
// behind its gradient read. Guards are ignored, so it may be too much.
struct GradientReads {
  std::vector<uint32_t> operands;
  std::vector<uint32_t> results;
  bool defined = false;  // the row has a line for this operand's gradient
};

// By the op's operand parameters. Computed once an op.
const std::vector<GradientReads>& gradient_reads(const Op& op);

}  // namespace gt
