// A recipe while it is built: steps over roots, which are what memory or
// numbers a value really is. plan_blocks() gives the roots their memory.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/decode/recipe.h"

namespace gt::exec {

struct Root {
  enum class Kind : uint8_t { kArgument, kConstant, kProduced };
  Kind kind = Kind::kProduced;
  int32_t index = 0;  // of the argument or the constant
  Type type;
  std::string number;  // a literal's or constant's text, else ""
  bool is_number() const { return !number.empty(); }
};

struct DraftStep {
  std::unique_ptr<Kernel> kernel;
  std::vector<int32_t> in;   // roots, or kNoValue
  std::vector<int32_t> out;  // roots
};

struct Draft {
  std::vector<Root> roots;
  std::vector<DraftStep> steps;
  std::vector<int32_t> results;  // roots
};

// Sets the recipe's blocks and steps and the values of its results: scratch
// memory is used again once what it held is dead, at once where the kernel
// can work in place.
void plan_blocks(Draft draft, TypeIds& types, Recipe& recipe);

}  // namespace gt::exec
