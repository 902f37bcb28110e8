// A line of the stream as it is run: registers instead of names, a recipe
// instead of the op. An entry is valid while its registers still stand for the
// same names and their values are of the same types, which their stamps tell
// (program/symbol_table.h); LineTable looks.
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

struct LineOperand {
  bool is_register = false;
  RegisterId id = 0;
  Stamp stamp;             // the register's, when the line was decoded
  Value* value = nullptr;  // without a register: that of a LineNumber
};

// A number of the line, as 8 bytes that a kernel reads; or nothing at all.
struct LineNumber {
  uint64_t bits = 0;
  Value value;
};

// The operand for a register, with the stamp that it has now.
inline LineOperand operand_of(const Registers& registers, const Register& r) {
  return {true, registers.id_of(r), r.stamp, nullptr};
}

struct LineResult {
  RegisterId id = 0;
  uint32_t generation = 0;
};

// The result for a name that a line binds; it has a register from now on.
inline LineResult result_of(Registers& registers, std::string_view name) {
  const RegisterId id = registers.obtain(name);
  return {id, registers[id].stamp.generation};
}

// What the entry of an exchange with other workers has besides: its operands
// are what it shows, by export; its results are what it makes.
struct LineExchange {
  std::shared_ptr<const comm::Exchange> exchange;
  std::vector<std::string> faults;  // by export: why there is none, or ""
  // By result of the entry: the target of the last step that makes it, and its
  // type. A print or save has no result, but one type: that of the whole.
  std::vector<uint32_t> targets;
  std::vector<TypeId> types;
};

struct LineEntry {
  // kParts: a placed line; each part is what one rank or one group does.
  // kPrint and kSave: of an operand; or, with a recipe or a crossing, of the
  // whole tensor that this puts together.
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

  // The most of a line that an entry has, for messages and for the text of an
  // exchange. What is kept is shorter by far: a LineCache takes lines of up to
  // 4,096 bytes, so an entry that is kept always has the whole of its line.
  static constexpr size_t kMaxText = size_t{64} << 10;
  void set_text(std::string_view line, uint32_t column_of_op) {
    text = line.substr(0, kMaxText);
    op_column = column_of_op;
  }
  void set_text(const Line& line) {  // in its canonical form
    std::string whole;
    const size_t op = append_instruction(whole, line);
    set_text(whole, static_cast<uint32_t>(op + 1));
  }
  // Makes it the print or save of what its recipe or crossing puts together.
  void set_output(const Line& line);

  std::string text;        // without notes
  uint32_t op_column = 0;  // in the text
  Action action = Action::kRun;
  std::shared_ptr<Recipe> recipe;  // of kRun; kPrint and kSave may have one
  // Of a line that makes integer scalars of such alone, on a device whose
  // values the host does not see: the same for the host. Or null.
  std::shared_ptr<Recipe> on_host;
  // There, of a load from a row that a register holds: that of the line with a
  // number in the register's place. Or null.
  std::shared_ptr<Recipe> numbered;
  std::vector<LineOperand> operands;  // with a recipe: by its argument
  std::vector<LineNumber> numbers;    // that operands refer to
  std::vector<LineResult> results;
  // By block of the recipe: the operand over whose memory it may be written, or
  // -1.
  std::vector<int32_t> in_place;
  // By block: the result whose name's old value it may be written over, since
  // the line does not read that, or -1.
  std::vector<int32_t> replaces;
  std::vector<LastUsed> last_used;  // by block, or by what its exchange makes
  std::string label;    // what print says, save's path, or fail's message
  std::string message;  // of kPrintFailure and kSaveFailure

  std::unique_ptr<LineExchange> crossing;
  std::vector<std::unique_ptr<LineEntry>> parts;
  uint64_t mesh_version = 0;  // LineTable::version() that kParts is made for
  bool is_lasting = true;     // false: a part failed, so it holds only now

  std::string exchange_notes;  // exchange_notes() of its line

  // The notes that the line last came with, which are well-formed, and where
  // they say that it stands; no file if they do not.
  std::string notes;
  Where at;
  size_t at_digits =
      0;  // where the line's number begins in notes, or their end
  std::shared_ptr<const TraceText> traced;  // with a trace, once it has run
};

}  // namespace gt::exec
