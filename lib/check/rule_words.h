// What gt-check calls each rule of the types, and says of a line that breaks
// it: a table with a row for each Rule (spmd/fault.h).
#pragma once

#include "spmd/fault.h"

namespace gt::check {

// In `message` and `why` a word in braces, as "{x}", is replaced by what the
// fault holds (words.cc lists these words).
struct RuleWords {
  Rule rule;
  const char* kind;      // "part-affine", which several rules may share
  const char* message;   // what is wrong
  const char* why = "";  // why that matters, or what to do; may be ""
};
const RuleWords& rule_words(Rule rule);

}  // namespace gt::check
