// What is judged of a line, and the judgement.
#pragma once

#include <string>
#include <vector>

#include "spmd/axis_names.h"
#include "spmd/placed.h"
#include "spmd/sharded_value.h"
#include "stream/line.h"

namespace gt {

struct CheckOptions {
  bool local = false;
  bool permissive = false;
  bool explicit_partial = false;
  std::vector<std::string> local_axes;  // local inside global mode
};

struct Problem {
  std::string kind;
  std::string axis;  // "" if it is of no axis
  std::string message;
  std::string why;
  std::vector<std::string> fixes;  // "y1 = all_reduce y over=tp src=P dst=R"
};

struct Judgement {
  std::vector<ShardedValue> results;
  std::vector<Problem> problems;
  std::vector<std::string> remarks;  // legal, but seldom meant
};

// `operands`: of names, as far as they are known; else null. `target`: what
// #grad= names, or null.
struct JudgeIn {
  const Line& line;
  const LineRanks* where;  // null: a line without ranks
  const AxisNames& names;
  const std::vector<const ShardedValue*>& operands;
  const ShardedValue* target;
  const CheckOptions& options;
};

Judgement judge(const JudgeIn& in);

}  // namespace gt
