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
  // For each line to write: its ranks ("" for an unplaced target), and the text
  // after "=", "zeros f32[2,3]".
  std::vector<std::pair<std::string, std::string>> lines;
};

// Returns zeros on the target's ranks. If it is known how the target is cut
// over the mesh (null: there is none), they are one line that is cut and typed
// as the target's gradient is; otherwise a line for each size that its pieces
// have.
TargetZeros target_zeros(Ledger& ledger, const grad::GradientTarget& target,
                         const Mesh* mesh);

}  // namespace gt::emit
