// Binds a parsed line to its op: checks arity, kinds and keys.
#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "ops/call.h"
#include "ops/part.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "ops/text.h"
#include "stream/ranks.h"

namespace gt {
namespace {

const char* word_for(Role role) {
  switch (role) {
    case Role::kTensor:
      return "a tensor's name";
    case Role::kType:
      return "a type such as f32[128,64]";
    case Role::kDtype:
      return "a dtype such as f32";
    case Role::kString:
      return "a string in double quotes";
    case Role::kRange:
      return "a range such as 0:4 or an index";
    case Role::kNumber:
      return "a number";
    case Role::kAny:
      return "an operand";
  }
  return "";
}

Error at(uint32_t column, std::string message) {
  return Error{std::move(message), column};
}

Error arity_error(const Line& line, const Op& op, const char* what,
                  size_t least, size_t most, bool open, size_t got) {
  std::string wanted = std::to_string(least);
  if (open) {
    wanted = "at least " + wanted;
  } else if (most != least) {
    wanted += " to " + std::to_string(most);
  }
  return at(line.op_column,
            op.name + ": takes " + wanted + " " + what +
                (wanted.ends_with(" 1") || wanted == "1" ? "" : "s") +
                ", got " + std::to_string(got) + suggest_form(line, op) +
                "; usage: " + op.row->signature);
}

// Checks how many operands and results are given; of optional ones, the first
// may be given without the others.
Status check_arity(const Line& line, const Op& op) {
  const size_t most = op.operands.size();
  const size_t least = op.least_operands();
  const size_t got = line.operands.size();
  if (got < least || (got > most && !op.is_variadic())) {
    return arity_error(line, op, "operand", least, most, op.is_variadic(), got);
  }
  const auto optional = static_cast<size_t>(
      std::count_if(op.results.begin(), op.results.end(),
                    [](const Parameter& p) { return p.optional; }));
  const bool open = std::any_of(op.results.begin(), op.results.end(),
                                [](const Parameter& p) { return p.variadic; });
  const size_t results = line.results.size();
  if (results < op.results.size() - optional ||
      (results > op.results.size() && !open)) {
    return arity_error(line, op, "result", op.results.size() - optional,
                       op.results.size(), open, results);
  }
  return ok_status();
}

Type weak_type(const Number& number) {
  switch (number.kind) {
    case Number::Kind::kInteger:
      return {Dtype::kI64, {}};
    case Number::Kind::kBool:
      return {Dtype::kBool, {}};
    case Number::Kind::kFloat:
      break;
  }
  return {Dtype::kF64, {}};
}

Status bind_operand(const Operand& operand, const Type* type, Role role,
                    const Op& op, Argument& argument) {
  using Kind = Operand::Kind;
  argument.text = operand.text;
  const bool any = role == Role::kAny;
  const bool tensor = role == Role::kTensor;
  switch (operand.kind) {
    case Kind::kName:
      if (!tensor && !any) break;
      argument.role = Role::kTensor;
      if (type != nullptr) argument.type = *type;
      return ok_status();
    case Kind::kNumber: {
      const auto number = parse_number(operand.text);
      if (!number) break;
      argument.number = *number;
      if (role == Role::kRange && number->kind != Number::Kind::kFloat) {
        return ok_status();
      }
      if (!tensor && role != Role::kNumber && !any) break;
      argument.role = tensor ? Role::kTensor : Role::kNumber;
      argument.literal = tensor;
      argument.type = weak_type(*number);
      return ok_status();
    }
    case Kind::kRange: {
      const auto range = parse_range(operand.text);
      if ((role != Role::kRange && !any) || !range.ok()) break;
      argument.role = Role::kRange;
      return ok_status();
    }
    case Kind::kType: {
      if (role != Role::kType && !any) break;
      const auto parsed = parse_type(operand.text);
      if (!parsed.ok()) {
        return at(operand.column, op.name + ": " + parsed.error().message);
      }
      argument.role = Role::kType;
      argument.type = parsed.value();
      return ok_status();
    }
    case Kind::kDtype:
      if (role != Role::kDtype && !any) break;
      argument.role = Role::kDtype;
      argument.type.dtype = *parse_dtype(operand.text);
      return ok_status();
    case Kind::kString:
      if (role != Role::kString && !any) break;
      argument.role = Role::kString;
      return ok_status();
    case Kind::kGlob:
      // A glob stands for names in a free. check_emitted() refuses it in
      // programs that do not know all names.
      if (op.row->statement != Statement::kFree) break;
      argument.role = Role::kTensor;
      return ok_status();
  }
  return at(operand.column, op.name + ": expected " + word_for(role) +
                                ", got '" + excerpt(operand.text) +
                                "'; usage: " + op.row->signature);
}

// Binds the operands that a variadic operand of numbers stands for. It must be
// the last in the signature.
Status bind_numbers(std::span<const Operand> operands, const Op& op,
                    Call& call) {
  Argument& argument = call.arguments.emplace_back();
  argument.role = Role::kNumber;
  argument.absent = operands.empty();
  call.numbers = operands;
  for (const Operand& operand : operands) {
    if (operand.kind == Operand::Kind::kNumber) continue;
    return bind_operand(operand, nullptr, Role::kNumber, op, argument);
  }
  return ok_status();
}

Status bind_operands(const Line& line, std::span<const Type* const> types,
                     const Op& op, Call& call) {
  const size_t given = line.operands.size();
  const size_t slots = std::max(op.operands.size(), given);
  size_t spare = slots - given;  // optional ones that are absent, if not
                                 // variadic
  size_t next = 0;
  call.arguments.reserve(slots);
  // Optional ones are filled from the left.
  size_t optional_given = given - op.least_operands();
  for (size_t i = 0; next < given || spare > 0; ++i) {
    const Parameter& p = op.operands[op.parameter_of(i, slots)];
    if (p.variadic && p.role == Role::kNumber) {
      return bind_numbers(std::span(line.operands).subspan(next), op, call);
    }
    Argument& argument = call.arguments.emplace_back();
    argument.role = p.role;
    if (p.optional && optional_given == 0) {
      argument.absent = true;
      --spare;
      continue;
    }
    if (p.optional) --optional_given;
    argument.operand = static_cast<int32_t>(next);
    const Status s =
        bind_operand(line.operands[next], types[next], p.role, op, argument);
    if (!s.ok()) return s;
    ++next;
  }
  return ok_status();
}

// Returns "" if the value is of the key's kind, else what was expected.
std::string expected_of(const KeyRow& row, std::string_view value) {
  using Kind = KeyRow::Kind;
  switch (row.kind) {
    case Kind::kFlag:
      return parse_flag(value) ? "" : "0 or 1";
    case Kind::kInteger: {
      const auto n = parse_number(value);
      return n && n->kind == Number::Kind::kInteger ? "" : "an integer";
    }
    case Kind::kNumber: {
      const auto n = parse_number(value);
      return n && n->kind != Number::Kind::kBool ? "" : "a number";
    }
    case Kind::kIntegers: {
      const std::string list = unquote(value);
      return parse_integers(list, true).ok() ? ""
                                             : "integers with commas, as 2,-1";
    }
    case Kind::kWord:
      return has_word(row.words, value) ? ""
                                        : "one of " + std::string(row.words);
    case Kind::kPart:
      return parse_part(value) ? "" : "START/WHOLE, as 64,0/128,10";
    case Kind::kText:
      return "";
  }
  return "";
}

Status bind_keys(const Line& line, const Op& op, Call& call) {
  call.key_values.assign(op.keys.size(), std::string_view{});
  for (const Key& key : line.keys) {
    const int index = op.key_index(key.key);
    if (index < 0 && op.row->free_keys) continue;
    if (index < 0) {
      return at(key.column, op.name + ": no key '" + excerpt(key.key) + "'" +
                                suggest_key(op, key.key));
    }
    const KeyRow& row = *op.keys[static_cast<size_t>(index)].row;
    const std::string wanted = expected_of(row, key.value);
    if (!wanted.empty()) {
      return at(key.column, op.name + ": key " + row.name + " must be " +
                                wanted + ", got " + excerpt(key.value));
    }
    // true and false are other ways to write 1 and 0.
    call.key_values[static_cast<size_t>(index)] =
        row.kind != KeyRow::Kind::kFlag ? key.value
        : *parse_flag(key.value)        ? "1"
                                        : "0";
  }
  for (size_t i = 0; i < op.keys.size(); ++i) {
    if (!call.key_values[i].empty()) continue;
    if (op.keys[i].required) {
      return at(line.op_column,
                op.name + ": key " + op.keys[i].row->name +
                    "= is missing; usage: " + op.row->signature);
    }
    call.key_values[i] = op.keys[i].fallback;
  }
  return ok_status();
}

// split= and shape= say how a whole is cut, which has a meaning only for the
// ranks that hold its pieces.
Status check_placed_keys(const Line& line, const Op& op) {
  if (is_placed(line)) return ok_status();
  for (const Key& key : line.keys) {
    const int index = op.key_index(key.key);
    if (index < 0) continue;
    const KeyParameter& known = op.keys[static_cast<size_t>(index)];
    const bool own = key.key == "shape" && known.required;
    if (own || (key.key != "split" && key.key != "shape")) continue;
    return at(key.column, op.name + ": " + std::string(key.key) +
                              "= needs a placed name such as x@0-3");
  }
  return ok_status();
}

Status bind_form_of(const Line& line, const Op& op,
                    std::span<const Type* const> types, Call& call) {
  call.op = &op;
  call.arguments.clear();
  call.numbers = {};
  call.results.clear();
  call.result_count = line.results.size();
  if (Status s = check_arity(line, op); !s.ok()) return s;
  if (Status s = bind_operands(line, types, op, call); !s.ok()) return s;
  if (Status s = bind_keys(line, op, call); !s.ok()) return s;
  return check_placed_keys(line, op);
}

Status infer_types(const Line& line, Call& call) {
  Status inferred = infer(call);
  if (inferred.ok()) return inferred;
  Error error = inferred.error();
  error.message = call.op->name + ": " + error.message;
  if (error.column == 0) error.column = line.op_column;
  return error;
}

}  // namespace

Status check_emitted(const Line& line) {
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kGlob) continue;
    return at(operand.column, std::string(line.op) + ": " +
                                  std::string(operand.text) +
                                  " stands for many names; run this through "
                                  "gt-emit");
  }
  if (line.op != "grad") return ok_status();
  return at(line.op_column,
            "grad: run this through gt-emit, which writes the gradients");
}

Status bind_form(const Line& line, std::span<const Type* const> types,
                 Call& call) {
  const Op* op = find_op(line.op);
  if (op == nullptr) {
    return unknown_op(line);
  }
  return bind_form_of(line, *op, types, call);
}

Status bind(const Line& line, std::span<const Type* const> types, Call& call) {
  if (Status s = bind_form(line, types, call); !s.ok()) return s;
  return infer_types(line, call);
}

Status bind_free(const Line& line, Call& call) {
  static constexpr Type kAny{};
  std::vector<const Type*> types;
  for (const Operand& operand : line.operands) {
    const bool is_name = operand.kind == Operand::Kind::kName;
    types.push_back(is_name ? &kAny : nullptr);
  }
  return bind(line, types, call);
}

Status bind_fail(const Line& line, Call& call) {
  const std::vector<const Type*> none(line.operands.size(), nullptr);
  return bind_form(line, none, call);
}

Line line_of(const Step& step) {
  Line line;
  line.kind = Line::Kind::kInstruction;
  line.op = step.op->name;
  line.results.resize(step.results.size());
  for (const StepOperand& o : step.operands) {
    Operand& operand = line.operands.emplace_back();
    if (o.is_ref) continue;
    operand.kind = kind_of_word(o.text);
    operand.text = o.text;
  }
  for (const auto& [key, value] : step.keys) {
    line.keys.push_back({key, value, 0});
  }
  return line;
}

Status bind_step_form(const Step& step, std::span<const Type* const> types,
                      Call& call) {
  Status s = bind_form_of(line_of(step), *step.op, types, call);
  GT_CHECK(call.numbers.empty());  // they would outlive their line
  return s;
}

Status bind_step(const Step& step, std::span<const Type* const> types,
                 Call& call) {
  if (Status s = bind_step_form(step, types, call); !s.ok()) return s;
  return infer_types({}, call);
}

}  // namespace gt
