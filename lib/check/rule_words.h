// What gt-check calls each rule of the types, and says of a line that breaks
// it.
#pragma once

#include "spmd/fault.h"

namespace gt::check {

// A rule's kind, "part-affine", and its message and reason. Both have blanks in
// braces, which what a fault holds fills (words.cc).
struct RuleWords {
  Rule rule;
  const char* kind;
  const char* message;
  const char* why = "";
};
const RuleWords& rule_words(Rule rule);

}  // namespace gt::check
