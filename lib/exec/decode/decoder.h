// From a parsed line to a LineEntry: names to registers, the op to its recipe.
// The slow path of a worker; nothing is bound or enqueued here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/decode/line_entry.h"
#include "exec/decode/recipe_table.h"
#include "spmd/labels.h"
#include "stream/line.h"

namespace gt::exec {

struct Decoding {
  std::unique_ptr<LineEntry> entry;  // null: rejected, or poisoned
  Fault poison;                      // an operand failed before
  Error error;                       // why it is rejected
};

class Decoder {
 public:
  Decoder(Registers& registers, TypeIds& types, RecipeTable& recipes)
      : registers_(registers), types_(types), recipes_(recipes) {}

  // A name has no ranks, or one. The entry gets its text from the caller.
  Decoding decode(const Line& line);
  // Kernels for the pieces of a group, as the recipe of the line's op.
  Status decode_group(const Op& op, const std::vector<Type>& pieces,
                      const GroupProgram& program, LineEntry& entry);
  // Returns the memory that a very long line took.
  void forget_line();

 private:
  Status find_operands(const Line& line, Fault& poison);
  Status decode_run(const Line& line, LineEntry& entry);
  Status decode_output(const Line& line, LineEntry& entry);
  const Register* find_register(const Operand& operand) const;
  void add_results(const Line& line, LineEntry& entry);
  void add_in_place(LineEntry& entry) const;
  bool may_lend(const LineEntry& entry, RegisterId id,
                const Block& block) const;

  Registers& registers_;
  TypeIds& types_;
  RecipeTable& recipes_;
  std::vector<const Register*> found_;  // by operand of the line
  std::vector<const Type*> operand_types_;
  Call call_;
};

}  // namespace gt::exec
