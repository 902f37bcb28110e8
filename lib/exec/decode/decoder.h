// Decoder turns a parsed line into a LineEntry: names become registers, and the
// op becomes its recipe. This is a worker's slow path, for lines that LineTable
// does not have. No result is bound and nothing is enqueued here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/decode/line_entry.h"
#include "exec/recipe/recipe_table.h"
#include "stream/line.h"

namespace gt::exec {

// The outcome of decoding a line: an entry, a poison, or an error.
struct Decoding {
  std::unique_ptr<LineEntry> entry;  // null if the line is rejected or poisoned
  Fault poison;                      // the fault of an operand that has failed
  Error error;                       // why the line is rejected
};

class Decoder {
 public:
  Decoder(Registers& registers, TypeIds& types, RecipeTable& recipes)
      : registers_(registers), types_(types), recipes_(recipes) {}

  // Decodes a line whose names have no ranks, or one rank each (x@3). The
  // caller sets the entry's text.
  Decoding decode(const Line& line);
  // Sets the entry's recipe to that of the op over the pieces of a group
  // (build_group_recipe()). The entry must have its operands and results
  // already.
  Status decode_group(const Op& op, const std::vector<Type>& pieces,
                      const GroupProgram& program, LineEntry& entry);
  // From now on entries also get recipes for the host (LineEntry::on_host),
  // from this table.
  void know_integers(RecipeTable& on_host) { on_host_ = &on_host; }
  // Frees the memory that decoding a very long line took.
  void forget_line();

 private:
  Status find_operands(const Line& line, Fault& poison);
  Status decode_run(const Line& line, LineEntry& entry);
  Status decode_output(const Line& line, LineEntry& entry);
  const Register* find_register(const Operand& operand) const;
  void add_known(LineEntry& entry);
  void add_results(const Line& line, LineEntry& entry);
  void add_memory(LineEntry& entry) const;
  int32_t lender_of(const LineEntry& entry, const Block& block,
                    std::vector<RegisterId>& lent) const;
  bool may_lend(const LineEntry& entry, RegisterId id,
                const Block& block) const;

  Registers& registers_;
  TypeIds& types_;
  RecipeTable& recipes_;
  RecipeTable* on_host_ = nullptr;
  std::vector<const Register*> found_;  // by operand of the line
  std::vector<const Type*> operand_types_;
  Call call_;
};

}  // namespace gt::exec
