// Divides the tensors that a program creates into groups. gt-shard --plan cuts
// all tensors of a group alike.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "stream/type.h"

namespace gt::shard {

// Tensors whose names differ only in numbers, such as "h.*.w" for h.0.w and
// h.1.w.
struct TensorGroup {
  std::string pattern;  // matches the names of no other tensors
  std::set<std::string> names;
  Type type;               // the type of the first tensor
  double bytes = 0;        // the bytes of all tensors together
  bool is_weight = false;  // true: a #grad= note names one
  // True if it is no weight, and is read before the first gradient: data, such
  // as a batch, but not the moments of an optimizer.
  bool is_batch = false;
};

// Returns the 64 groups of the lines of one step, as gt-emit writes it, that
// matter most: those of batches, then the others, either in descending order of
// size. The layouts of tensors in no group are left to
// their readers. Errors: a line does not parse, a line is placed already, or
// there is no instruction. Sets `culprit` to the index of the line that an
// error is about.
Result<std::vector<TensorGroup>> tensor_groups(
    const std::vector<std::string>& lines, std::optional<size_t>& culprit);

}  // namespace gt::shard
