// Puts faults and remarks, which the type engine gives as values
// (spmd/fault.h), in words.
#pragma once

#include <string>
#include <vector>

#include "spmd/infer.h"

namespace gt::check {

// A fault as gt-check prints it.
struct Problem {
  std::string kind;  // the kind of its rule, "part-affine"
  std::string axis;  // the axis on which the rule is broken, or ""
  std::string message;
  std::string why;
  std::vector<std::string> fixes;  // "y1 = all_reduce y over=tp src=P dst=R"
  size_t column = 0;  // where in the line the fault is, in bytes from 1
};

// Returns the fault in words, without remedies (remedies.h).
Problem in_words(const ReadLine& line, const TypeFault& fault);
// Returns a remark in words. A remark is no fault: it says that the line reads
// shards as unrelated values.
std::string in_words(const ReadLine& line, const Remark& remark);

}  // namespace gt::check
