// Finds along which dimensions ranks may cut an op's tensors, by the index rule
// of the call in its example.
#include <map>
#include <string>

#include "ops/catalog.h"
#include "ops/families.h"
#include "ops/index_rule.h"
#include "stream/line.h"

namespace gt {
namespace {

using ExampleTypes = std::map<std::string, Type, std::less<>>;

void append_place(std::string& out, std::string_view name,
                  const LabelDim& place) {
  if (!place.is_there()) return;
  if (!out.empty()) out += ' ';
  out += std::string(name) + "." + std::to_string(place.dim);
  if (place.unit > 1) out += "*" + std::to_string(place.unit);
}

// Returns the text of a label, "a.1 b.0 summed".
std::string label_text(const Call& call, const Label& label) {
  std::string out;
  for (size_t i = 0; i < label.arguments.size(); ++i) {
    const size_t p = call.op->parameter_of(i, label.arguments.size());
    append_place(out, call.op->operands[p].name, label.arguments[i]);
  }
  for (size_t r = 0; r < label.results.size(); ++r) {
    const size_t p = call.op->result_parameter_of(r, call.result_count);
    append_place(out, call.op->results[p].name, label.results[r]);
  }
  if (out.empty()) return out;
  if (!label.extreme.empty()) return out + " " + std::string(label.extreme);
  if (label.is_looked_up) out += " looked up";
  if (label.is_summed) out += " summed";
  return label.needs_split ? out + " split=" : out;
}

// Binds the example's line. False if it is no instruction, or cannot be bound
// alone.
bool bind_example(const Line& line, const ExampleTypes& types, Call& call) {
  std::vector<const Type*> operands;
  for (const Operand& operand : line.operands) {
    const auto it = types.find(operand.text);
    operands.push_back(it == types.end() ? nullptr : &it->second);
  }
  return line.kind == Line::Kind::kInstruction &&
         bind(line, operands, call).ok();
}

}  // namespace

std::vector<std::string> cut_texts(const Op& op) {
  std::vector<std::string> out;
  if (op.family == &kRanks || op.family == &kOutput) return out;
  ExampleTypes types;
  for (const std::string& text : text_lines(example_of(*op.row).program)) {
    Line line;
    Call call;
    if (!parse_line(text, line).ok() || !bind_example(line, types, call)) {
      continue;
    }
    for (size_t r = 0; r < call.results.size(); ++r) {
      types[std::string(line.results[r].text)] = call.results[r];
    }
    if (call.op != &op) continue;
    for (const Label& label : index_rule(call)) {
      const std::string cut = label_text(call, label);
      if (!cut.empty()) out.push_back(cut);
    }
    break;
  }
  return out;
}

}  // namespace gt
