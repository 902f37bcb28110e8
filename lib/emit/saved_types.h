// Types of stored tensors: gt-emit writes the type of a load that has none, of
// a file that is there or that the program saves before.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "emit/line_state.h"
#include "file/safetensors_cache.h"

namespace gt::emit {

class SavedTypes {
 public:
  // Of a load that leaves its type out: adds it to the line's operands. Error:
  // the file cannot be read, or is none that gt reads.
  Status complete(LineState& state);
  // A save of tensors of these types: one, or one for each of the line's ranks,
  // each of which has a file of its own.
  void note(const LineState& state, const std::vector<Type>& saved);
  // All of it as text, for Rewriter::state().
  void describe(std::string& text) const;

 private:
  Result<Type> type_of(const std::string& path);

  std::unordered_map<std::string, Type> types_;  // by path
  SafetensorsCache headers_;
};

}  // namespace gt::emit
