// What gt-check says to people: faults and remarks, which the type engine gives
// as values (spmd/fault.h), in words.
#pragma once

#include <string>
#include <vector>

#include "spmd/infer.h"

namespace gt::check {

struct Problem {
  std::string kind;  // of the rule, "part-affine"
  std::string axis;  // on which the rule is broken; "" if it is of no axis
  std::string message;
  std::string why;
  std::vector<std::string> fixes;  // "y1 = all_reduce y over=tp src=P dst=R"
  size_t column = 0;               // of the line, where it is at fault
};

// The fault in words, without remedies (remedies.h).
Problem in_words(const ReadLine& line, const TypeFault& fault);
// A remark is no fault: the line reads shards as unrelated values.
std::string in_words(const ReadLine& line, const Remark& remark);

}  // namespace gt::check
