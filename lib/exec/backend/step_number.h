// Checks the step number of an optimizer: bias corrections divide by 1 -
// beta^t, which is 0 before the first step.
#pragma once

#include "base/result.h"
#include "ops/shape_rules.h"

namespace gt::exec {

// Returns an error unless `t` is greater than 0.
inline Status check_step_number(double t) {
  if (t > 0) return ok_status();
  return Error{"t is the number of this step, from 1, got " + number_text(t)};
}

}  // namespace gt::exec
