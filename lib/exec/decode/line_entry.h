// A LineEntry is a line of the stream in decoded form: registers instead of
// names, a recipe instead of the op. An entry is valid while its registers
// still stand for the same names and their values have the same types, which
// the registers' stamps tell (program/symbol_table.h). LineTable checks that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/comm/exchange.h"
#include "exec/decode/registers.h"
#include "exec/recipe/recipe.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"

namespace gt::exec {

// An operand of a line: a register, or a number.
struct LineOperand {
  bool is_register = false;
  RegisterId id = 0;
  Stamp stamp;             // the register's, when the line was decoded
  Value* value = nullptr;  // if it is not a register: the value of a LineNumber
};

// A number of the line, as the 8 bytes that a kernel reads; also stands for an
// absent argument, whose value has no data.
struct LineNumber {
  uint64_t bits = 0;
  Value value;
};

// Makes the operand for a register, with its current stamp.
inline LineOperand operand_of(const Registers& registers, const Register& r) {
  return {true, registers.id_of(r), r.stamp, nullptr};
}

// A result of a line: the register that it binds.
struct LineResult {
  RegisterId id = 0;
  uint32_t generation = 0;
};

// Makes the result for a name that a line binds, and gives the name a register.
inline LineResult result_of(Registers& registers, std::string_view name) {
  const RegisterId id = registers.obtain(name);
  return {id, registers[id].stamp.generation};
}

// What the entry of an exchange with other workers has in addition. Its
// operands are what this worker exports, by export; its results are what it
// makes.
struct LineExchange {
  std::shared_ptr<const comm::Exchange> exchange;
  std::vector<std::string> faults;  // by export: why there is no value, or ""
  // By result of the entry: the target of the last step that makes it, and its
  // type. A print or save has no result, but one type, that of the whole
  // tensor.
  std::vector<uint32_t> targets;
  std::vector<TypeId> types;
};

struct LineEntry {
  // kParts is a placed line; each part is what one rank or one group does.
  // kPrint and kSave are about an operand or, with a recipe or a crossing,
  // about the whole tensor that this assembles.
  enum class Action : uint8_t {
    kRun,
    kPrint,
    kSave,
    kFree,
    kFail,
    kPrintFailure,
    kSaveFailure,
    kExchange,
    kParts
  };

  // The most bytes of a line's text that an entry has, for messages and for the
  // text of an exchange. An entry that is kept always has the whole text, since
  // a LineCache takes lines of up to 4,096 bytes.
  static constexpr size_t kMaxText = size_t{64} << 10;
  void set_text(std::string_view line, uint32_t column_of_op) {
    text = line.substr(0, kMaxText);
    op_column = column_of_op;
  }
  void set_text(const Line& line) {  // sets the line's canonical form
    std::string whole;
    const size_t op = append_instruction(whole, line);
    set_text(whole, static_cast<uint32_t>(op + 1));
  }
  // Makes the entry the print or save of the tensor that its recipe or crossing
  // assembles.
  void set_output(const Line& line);

  std::string text;        // the line, without notes
  uint32_t op_column = 0;  // of the op, in `text`
  Action action = Action::kRun;
  std::shared_ptr<Recipe> recipe;  // for kRun; kPrint and kSave may have one
  // The same recipe for the host (KnownIntegers), or null. Only lines that make
  // integer scalars from nothing but integer scalars have it, on a device whose
  // values the host cannot see.
  std::shared_ptr<Recipe> on_host;
  // The recipe of the line with a number in place of the register that holds
  // the row, or null. Only loads on such a device have it.
  std::shared_ptr<Recipe> numbered;
  // By argument of the recipe, if there is one.
  std::vector<LineOperand> operands;
  // Registers whose types decide what the line does, though it may not read
  // them: all pieces of a tensor that is assembled, of which those that are
  // empty or copies are not read.
  std::vector<LineOperand> watched;
  std::vector<LineNumber> numbers;  // operands refer to these
  std::vector<LineResult> results;
  // By block of the recipe: the operand whose memory it may take over, or -1.
  std::vector<int32_t> in_place;
  // By block: the result whose name's old value it may be written over, since
  // the line does not read that value; or -1.
  std::vector<int32_t> replaces;
  // The label of print, the path of save, or the message of fail.
  std::string label;
  std::string message;  // for kPrintFailure and kSaveFailure

  std::unique_ptr<LineExchange> crossing;
  std::vector<std::unique_ptr<LineEntry>> parts;
  // The LineTable::version() for which kParts was decoded.
  uint64_t mesh_version = 0;
  // False if a part has failed, so that the entry is used only once.
  bool is_lasting = true;

  std::string exchange_notes;  // exchange_notes() of the line

  // The notes that the line last came with, which are well-formed, and the
  // place that they state; no file if they state none.
  std::string notes;
  Where at;
  size_t at_digits =
      0;  // offset in `notes` of the line number at their end, or their size
  // Set once the line has run, if there is a trace.
  std::shared_ptr<const TraceText> traced;
};

}  // namespace gt::exec
