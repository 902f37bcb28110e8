// The tensors that a program creates, in groups that gt-shard --plan cuts
// alike.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "stream/type.h"

namespace gt::shard {

// Tensors whose names differ in numbers alone: "h.*.w" for h.0.w and h.1.w.
struct TensorGroup {
  std::string pattern;  // that no other tensor's name matches
  std::set<std::string> names;
  Type type;               // of the first
  double bytes = 0;        // of all together
  bool is_weight = false;  // a grad asks for its gradient
};

// The groups of the lines of one step, as gt-emit writes it: the 24 largest,
// the largest first; what is in no group is left to follow its readers. Errors:
// a line that does not parse; a stream that is placed already, or has no line.
Result<std::vector<TensorGroup>> tensor_groups(
    const std::vector<std::string>& lines);

}  // namespace gt::shard
