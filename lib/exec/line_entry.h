// A line of the stream as it is run: registers instead of names, a recipe
// instead of the op. Valid while its registers' stamps hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "exec/recipe.h"
#include "exec/registers.h"

namespace gt {

struct LineOperand {
  enum class Kind : uint8_t { kNone, kRegister, kNumber };
  Kind kind = Kind::kNone;
  RegisterId id = 0;
  Stamp stamp;        // of a register, when the line was decoded
  uint64_t bits = 0;  // of a number: what its kernel reads
};

struct LineResult {
  RegisterId id = 0;
  uint32_t generation = 0;
};

struct LineEntry {
  enum class Action : uint8_t { kRun, kPrint, kSave, kFree, kFail };

  std::string text;  // without notes
  Action action = Action::kRun;
  Recipe* recipe = nullptr;           // of kRun; a reference is held
  std::vector<LineOperand> operands;  // of kRun: by the recipe's argument
  std::vector<LineResult> results;
  std::vector<int32_t> in_place;  // by block: the operand that may lend memory
  std::string label;  // what print says, save's path, or fail's message

  // The notes that were last seen with the text, which are well-formed, and
  // where they say that the line stands; no file if they do not.
  std::string notes;
  Where at;
  size_t at_digits = 0;  // where the line's number begins in notes; 0: nowhere
};

}  // namespace gt
