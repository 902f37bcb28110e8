// The index rule of reshape: which cuts of its operand are cuts of its result.
#pragma once

#include <vector>

#include "ops/index_rule.h"

namespace gt {

// Returns the labels of a reshape whose result type is known. Dimensions of
// operand and result are taken in the smallest groups of equal product: [4,6]
// to [2,2,6] in 4 | 2,2 and 6 | 6. Each group has one label, on its first
// dimension in both. A cut of another dimension of a group is no cut of the
// other tensor.
std::vector<Label> labels_reshape(const Call& call);

}  // namespace gt
