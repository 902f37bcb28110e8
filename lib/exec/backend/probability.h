// Checks the probability of a dropout, which is only known when the line runs
// if it is the name of a scalar.
#pragma once

#include "base/result.h"
#include "ops/shape_rules.h"

namespace gt::exec {

// Returns an error unless `p` is from 0 to 1.
inline Status check_probability(double p) {
  if (p >= 0 && p <= 1) return ok_status();
  return Error{"p must be from 0 to 1, got " + number_text(p)};
}

}  // namespace gt::exec
