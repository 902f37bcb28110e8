// The gradient of a target that the loss does not reach.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emit/ledger.h"
#include "grad/reverse.h"

namespace gt::emit {

struct TargetZeros {
  TypeId type;
  // Ranks, "" of an unplaced target, and what makes the zeros there.
  std::vector<std::pair<std::string, std::string>> lines;
};

// Zeros where the target lives, cut and typed as its gradient if that is known
// under the mesh, which may be null.
TargetZeros target_zeros(Ledger& ledger, const grad::GradientTarget& target,
                         const Mesh* mesh);

}  // namespace gt::emit
