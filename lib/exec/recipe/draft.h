// A draft is a recipe while it is built, before its steps have memory. Its
// steps read and write roots. A root is a piece of memory or a number; values
// that share one memory under several types, as after a reshape, have one root.
// plan_blocks() then chooses a memory block for each root that a step writes.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/recipe/recipe.h"

namespace gt::exec {

// A piece of memory or a number: an argument, a constant, or what a step makes.
struct Root {
  enum class Kind : uint8_t { kArgument, kConstant, kProduced };
  Kind kind = Kind::kProduced;
  int32_t index = 0;  // of the argument or the constant
  Type type;
  std::string number;  // a literal's or constant's text, else ""
  bool is_number() const { return !number.empty(); }
};

// A kernel, and the roots that it reads and writes.
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

// Sets the recipe's blocks, steps and result values. A block of scratch memory
// is reused once no later step reads what it holds. The step that reads it last
// may itself reuse it, if its kernel can work in place.
void plan_blocks(Draft draft, TypeIds& types, Recipe& recipe);

}  // namespace gt::exec
