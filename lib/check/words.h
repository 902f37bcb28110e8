// What gt-check says to people: a fault of a line in words.
#pragma once

#include <string>
#include <vector>

#include "spmd/infer.h"

namespace gt::check {

struct Problem {
  std::string kind;  // of the rule, "part-affine"
  std::string axis;  // "" if it is of no axis
  std::string message;
  std::string why;
  std::vector<std::string> fixes;  // "y1 = all_reduce y over=tp src=P dst=R"
};

// The fault without remedies (remedies.h).
Problem in_words(const ReadLine& line, const TypeFault& fault);
std::string in_words(const ReadLine& line, const Remark& remark);

}  // namespace gt::check
