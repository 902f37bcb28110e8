// The name and wording that gt-check has for each typing rule: a table with a
// row for each Rule (spmd/fault.h).
#pragma once

#include "spmd/fault.h"

namespace gt::check {

// A word in braces in `message` or `why`, such as "{x}", is replaced by what
// the fault holds (words.cc lists these words).
struct RuleWords {
  Rule rule;
  const char* kind;      // "part-affine", which several rules may share
  const char* message;   // what is wrong
  const char* why = "";  // why that matters, or what to do; may be ""
};
// Returns the row of the rule.
const RuleWords& rule_words(Rule rule);

}  // namespace gt::check
