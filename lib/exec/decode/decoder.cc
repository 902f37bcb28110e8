#include "exec/decode/decoder.h"

#include <algorithm>

#include "base/message.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "spmd/labels.h"

namespace gt::exec {
namespace {

using Action = LineEntry::Action;

Action action_of(std::string_view op) {
  switch (statement_of(op)) {
    case Statement::kPrint:
      return Action::kPrint;
    case Statement::kSave:
      return Action::kSave;
    case Statement::kFree:
      return Action::kFree;
    case Statement::kFail:
      return Action::kFail;
    default:
      return Action::kRun;
  }
}

// Returns the ranks that the operand's name states, ascending.
Ranks ranks_of(const Operand& operand) {
  return operand.ranks.empty() ? Ranks{}
                               : ascending(parse_ranks(operand.ranks).value());
}

bool is_integer_scalar(const Type& type) {
  return type.shape.empty() &&
         (is_integer(type.dtype) || type.dtype == Dtype::kBool);
}

// True if the call makes integer scalars from nothing but integer scalars.
bool makes_integers(const Call& call) {
  return std::all_of(call.results.begin(), call.results.end(),
                     is_integer_scalar) &&
         std::all_of(call.arguments.begin(), call.arguments.end(),
                     [](const Argument& a) {
                       return a.role != Role::kTensor || a.absent ||
                              is_integer_scalar(a.type);
                     });
}

}  // namespace

void LineEntry::set_output(const Line& line) {
  const bool prints = statement_of(line.op) == Statement::kPrint;
  action = prints ? Action::kPrint : Action::kSave;
  label = prints ? print_labels(line)[0] : unquote(line.operands[1].text);
}

const Register* Decoder::find_register(const Operand& operand) const {
  if (operand.ranks.empty()) return registers_.value_of(operand.text);
  return registers_.value_of(full_name(operand.text, operand.ranks));
}

Status Decoder::find_operands(const Line& line, Fault& poison) {
  found_.clear();
  operand_types_.clear();
  for (size_t i = 0; i < line.operands.size(); ++i) {
    const Operand& operand = line.operands[i];
    const Register* r = nullptr;
    if (operand.kind == Operand::Kind::kName) {
      r = find_register(operand);
      if (r == nullptr) {
        return unknown_name(line, i, ranks_of(operand),
                            registers_.some_live_names());
      }
      if (r->has_failed() && poison == nullptr) {
        poison = registers_.failure_of(registers_.id_of(*r));
      }
    }
    found_.push_back(r);
    operand_types_.push_back(
        r == nullptr || r->has_failed() ? nullptr : &types_[r->stamp.type]);
  }
  return ok_status();
}

Decoding Decoder::decode(const Line& line) {
  Decoding out;
  auto entry = std::make_unique<LineEntry>();
  entry->action = action_of(line.op);
  Status s = check_emitted(line);
  // An unknown op is reported before an unknown name.
  if (s.ok() && find_op(line.op) != nullptr) {
    s = find_operands(line, out.poison);
  }
  if (s.ok() && out.poison != nullptr && entry->action != Action::kFree) {
    return out;
  }
  if (s.ok()) {
    s = entry->action == Action::kRun ? decode_run(line, *entry)
                                      : decode_output(line, *entry);
  }
  if (!s.ok()) {
    out.error = s.error();
    return out;
  }
  out.poison = nullptr;
  out.entry = std::move(entry);
  return out;
}

void Decoder::forget_line() {
  found_ = {};
  operand_types_ = {};
  call_ = Call{};
}

// Decodes print, save, free and fail, which have no recipe.
Status Decoder::decode_output(const Line& line, LineEntry& entry) {
  if (entry.action == Action::kFail) {
    if (Status s = bind_fail(line, call_); !s.ok()) return s;
    entry.label = unquote(line.operands[0].text);
    add_results(line, entry);
    return ok_status();
  }
  if (Status s = gt::bind(line, operand_types_, call_); !s.ok()) return s;
  if (entry.action == Action::kPrint) {
    const std::string_view* as = line.key("as");
    if (as != nullptr && !is_name(unquote(*as))) {
      return Error{"print: as=" + std::string(*as) + " is not a name",
                   line.keys[0].column};
    }
    entry.label = print_label(line);
  }
  if (entry.action == Action::kSave) {
    entry.label = unquote(line.operands[1].text);
  }
  for (const Register* r : found_) {
    if (r != nullptr) entry.operands.push_back(operand_of(registers_, *r));
  }
  return ok_status();
}

Status Decoder::decode_run(const Line& line, LineEntry& entry) {
  if (Status s = gt::bind(line, operand_types_, call_); !s.ok()) return s;
  auto recipe = recipes_.obtain(call_);
  if (!recipe.ok()) return Error{recipe.error().message, line.op_column};
  entry.recipe = std::move(recipe.value());
  for (const Argument& a : call_.arguments) {
    if (!a.literal && !a.absent && a.role == Role::kTensor) {
      entry.operands.push_back(
          operand_of(registers_, *found_[static_cast<size_t>(a.operand)]));
      continue;
    }
    // Reserved so that they never move, since operands point to them.
    if (entry.numbers.empty()) entry.numbers.reserve(call_.arguments.size());
    LineNumber& number = entry.numbers.emplace_back();
    if (a.literal) {
      number.bits = bits_of(a.number);
      number.value.data = &number.bits;
    }
    entry.operands.emplace_back().value = &number.value;
  }
  add_results(line, entry);
  add_memory(entry);
  if (on_host_ != nullptr) add_known(entry);
  return ok_status();
}

// Adds the recipes that KnownIntegers uses. If one cannot be made, the line is
// only slower.
void Decoder::add_known(LineEntry& entry) {
  if (call_.op->row->statement == Statement::kLoad) {
    if (call_.arguments.size() <= kRowOfLoad) return;
    Argument& row = call_.arguments[kRowOfLoad];
    if (row.absent || row.literal) return;
    row.literal = true;
    row.type = {Dtype::kI64, {}};
    row.number = {};
    row.text = "0";
    auto recipe = recipes_.obtain(call_);
    if (recipe.ok()) entry.numbered = std::move(recipe.value());
    return;
  }
  const auto is_small = [](const Block& block) {
    return block.size_class == 0;
  };
  if (!makes_integers(call_)) return;
  auto recipe = on_host_->obtain(call_);
  if (!recipe.ok() || !std::all_of(recipe.value()->blocks.begin(),
                                   recipe.value()->blocks.end(), is_small)) {
    return;
  }
  entry.on_host = std::move(recipe.value());
}

Status Decoder::decode_group(const Op& op, const std::vector<Type>& pieces,
                             const GroupProgram& program, LineEntry& entry) {
  auto recipe = recipes_.obtain_group(op, pieces, program);
  if (!recipe.ok()) return recipe.error();
  entry.recipe = std::move(recipe.value());
  add_memory(entry);
  return ok_status();
}

void Decoder::add_results(const Line& line, LineEntry& entry) {
  for (const Name& name : line.results) {
    entry.results.push_back(
        result_of(registers_, full_name(name.text, name.ranks)));
  }
}

// Finds out whose memory each block may take over.
void Decoder::add_memory(LineEntry& entry) const {
  const Recipe& recipe = *entry.recipe;
  std::vector<RegisterId> lent;
  for (const Block& block : recipe.blocks) {
    entry.in_place.push_back(lender_of(entry, block, lent));
  }
  entry.replaces.assign(recipe.blocks.size(), -1);
  for (size_t r = 0; r < entry.results.size(); ++r) {
    const RegisterId id = entry.results[r].id;
    const int64_t block =
        int64_t{recipe.results[r].value} - int64_t{recipe.arguments};
    const bool is_read = std::any_of(
        entry.operands.begin(), entry.operands.end(),
        [id](const LineOperand& o) { return o.is_register && o.id == id; });
    if (block < 0 || is_read) continue;
    entry.replaces[static_cast<size_t>(block)] = static_cast<int32_t>(r);
  }
}

// Returns the operand whose memory the block may take over, or -1. Each operand
// lends its memory to one block at most.
int32_t Decoder::lender_of(const LineEntry& entry, const Block& block,
                           std::vector<RegisterId>& lent) const {
  for (const int32_t operand : block.in_place) {
    const RegisterId id = entry.operands[static_cast<size_t>(operand)].id;
    const bool taken = std::find(lent.begin(), lent.end(), id) != lent.end();
    if (taken || !may_lend(entry, id, block)) continue;
    lent.push_back(id);
    return operand;
  }
  return -1;
}

// True if the block may take over the register's memory: the line rebinds the
// name, and the block may be written over every operand that is this register.
bool Decoder::may_lend(const LineEntry& entry, RegisterId id,
                       const Block& block) const {
  const bool dies =
      std::any_of(entry.results.begin(), entry.results.end(),
                  [id](const LineResult& r) { return r.id == id; });
  if (!dies) return false;
  for (size_t i = 0; i < entry.operands.size(); ++i) {
    const LineOperand& operand = entry.operands[i];
    if (!operand.is_register || operand.id != id) continue;
    if (std::find(block.in_place.begin(), block.in_place.end(),
                  static_cast<int32_t>(i)) == block.in_place.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace gt::exec
