// Divides the tensors that a program creates into groups. gt-shard --plan cuts
// all tensors of a group alike.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "stream/type.h"

namespace gt::shard {

// What a program does with created tensors, and with what it makes of them.
enum class GroupRole : uint8_t {
  kWeight,  // a #grad= note names one
  kBatch,   // data that a line of the model reads, such as tokens
  kSource,  // data of which batches are taken
  kMoment,  // an optimizer updates it with a weight, see TensorGroup::moments
  kOther
};

// Tensors whose names differ only in numbers, such as "h.*.w" for h.0.w and
// h.1.w.
struct TensorGroup {
  std::string pattern;  // matches the names of no other created tensors
  std::set<std::string> names;
  Type type;         // the type of the first tensor
  double bytes = 0;  // the bytes of all tensors together
  GroupRole role = GroupRole::kOther;
  // Of weights: the indices of the groups of their optimizer's moments.
  std::vector<size_t> moments;
  // True if a line computes it from data, so that a config cuts it by results:
  // in place of shard:.
  bool is_computed = false;
};

// Returns the 64 groups of the lines of one step, as gt-emit writes it, that
// matter most: those of batches, then the others, either in descending order of
// size. The layouts of tensors in no group are left to
// their readers. Errors: gt-shard rejects a line, a line is placed already, or
// there is no instruction. Sets `culprit` to the index of the line that an
// error is about.
Result<std::vector<TensorGroup>> tensor_groups(
    const std::vector<std::string>& lines, std::optional<size_t>& culprit);

}  // namespace gt::shard
