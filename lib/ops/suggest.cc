#include "ops/suggest.h"

#include <algorithm>

#include "base/message.h"
#include "ops/table.h"
#include "stream/dtype_names.h"

namespace gt {
namespace {

constexpr std::string_view kLibraries[] = {"torch.", "numpy.", "jax."};

// The part of a Source line, between its semicolons, in which a library calls
// something `word`; "" if none does.
std::string_view clause_with(std::string_view source, std::string_view word) {
  while (!source.empty()) {
    const size_t end = std::min(source.find("; "), source.size());
    const std::string_view clause = source.substr(0, end);
    source.remove_prefix(std::min(end + 2, source.size()));
    for (size_t at = 0; at < clause.size();) {
      const size_t next =
          std::min(clause.find_first_of(" ,", at), clause.size());
      const std::string_view name = clause.substr(at, next - at);
      at = next + 1;
      const bool is_library =
          std::any_of(std::begin(kLibraries), std::end(kLibraries),
                      [&](std::string_view l) { return name.starts_with(l); });
      if (is_library && name.substr(name.rfind('.') + 1) == word) return clause;
    }
  }
  return "";
}

bool names_op(const Operand& operand) {
  return operand.kind == Operand::Kind::kName && operand.ranks.empty() &&
         find_op(operand.text) != nullptr;
}

// Why operand i can be no tensor's name, and what it might be; "" if it can.
std::string misread_name(const Line& line, size_t i) {
  const Op* op = find_op(line.op);
  if (op == nullptr) return "";
  const size_t count = std::max(op->operands.size(), line.operands.size());
  const size_t p = op->parameter_of(i, count);
  // Names are looked up before their number is checked: a line may have more
  // operands than its op.
  if (p >= op->operands.size()) return "";
  const Parameter& parameter = op->operands[p];
  const std::string_view word = line.operands[i].text;
  if (parameter.role == Role::kString) {
    return "; a " + parameter.name + " stands in double quotes: \"" +
           excerpt(word) + "\"";
  }
  if (parameter.role != Role::kDtype) return "";
  if (const auto dtype = dtype_elsewhere(word)) {
    return "; did you mean '" + std::string(to_string(*dtype)) + "'?";
  }
  return "; dtypes are f32 f64 f16 bf16 i64 i32 u8 bool";
}

}  // namespace

std::string suggest_op(std::string_view word) {
  for (const Op& op : all_ops()) {
    if (op.row->internal) continue;
    const std::string_view clause = clause_with(op.row->source, word);
    if (clause.empty()) continue;
    return "; did you mean '" + op.name + "' (" + std::string(clause) + ")?";
  }
  return did_you_mean(word, op_names());
}

Error unknown_op(const Line& line) {
  std::string message = "unknown op '" + excerpt(line.op) + "'";
  const auto& operands = line.operands;
  const auto op = std::find_if(operands.begin(), operands.end(), names_op);
  if (line.results.empty() && op != operands.end()) {
    message += "; '=' is missing before '" + std::string(op->text) + "'";
  } else if (std::string guess = suggest_op(line.op); !guess.empty()) {
    message += guess;
  } else if (operands.empty() && !line.results.empty()) {
    message += "; a second name for a value is made by copy: " +
               std::string(line.results[0].text) + " = copy " +
               excerpt(line.op);
  } else {
    message += "; gt-emit --ops lists them";
  }
  return Error{std::move(message), line.op_column};
}

std::string suggest_key(const Op& op, std::string_view word) {
  std::vector<std::string_view> known;
  for (const KeyParameter& key : op.keys) {
    known.push_back(key.row->name);
    std::string_view sense = key.row->sense;
    constexpr std::string_view kTheirs = "PyTorch's ";
    const size_t at = sense.find(kTheirs);
    if (at != sense.npos && sense.substr(at + kTheirs.size()) == word) {
      return "; did you mean '" + std::string(key.row->name) + "'?";
    }
  }
  const std::string guess = did_you_mean(word, known);
  return guess.empty() ? "; usage: " + std::string(op.row->signature) : guess;
}

Error unknown_name(const Line& line, size_t i, std::string_view name,
                   const std::vector<std::string_view>& known) {
  std::string hint = misread_name(line, i);
  if (hint.empty()) hint = did_you_mean(name, known);
  return Error{std::string(line.op) + ": unknown name '" + std::string(name) +
                   "'" + hint,
               line.operands[i].column};
}

}  // namespace gt
