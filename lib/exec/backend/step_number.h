// The number of an optimizer's step, that bias corrections divide by powers of.
#pragma once

#include "base/result.h"
#include "ops/shape_rules.h"

namespace gt::exec {

inline Status check_step_number(double t) {
  if (t > 0) return ok_status();
  return Error{"t is the number of this step, from 1, got " + number_text(t)};
}

}  // namespace gt::exec
