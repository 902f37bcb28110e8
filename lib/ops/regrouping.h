// What reshape keeps together: which cuts of x are cuts of the result.
#pragma once

#include <vector>

#include "ops/index_rule.h"

namespace gt {

// The index rule of a reshape of argument 0 whose result is known: a label for
// what leads each group of dimensions that has one product in both.
std::vector<Label> labels_reshape(const Call& call);

}  // namespace gt
