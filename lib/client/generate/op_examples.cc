// Writes a test of the C++ interface from the op table. It makes each op's
// example by calls of the op's function, and again by calls of its method, and
// expects the values that the op's row states.
//
// usage: gt-op-examples FILE.cc
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "client/generate/functions.h"
#include "ops/catalog.h"
#include "ops/table.h"
#include "stream/line.h"

namespace gt::client {
namespace {

std::string variable(std::string_view name) {
  std::string out = "v_";
  for (const char c : name) out += c == '.' || c == '/' ? '_' : c;
  return out;
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string number(std::string_view text) {
  if (text == "inf") return "INFINITY";
  if (text == "-inf") return "-INFINITY";
  if (text == "nan") return "NAN";
  return std::string(text);
}

std::string type(std::string_view text) {
  const size_t open = text.find('[');
  return "gt::Type(gt::Shape({" +
         std::string(text.substr(open + 1, text.size() - open - 2)) + "}), " +
         dtype_name(text.substr(0, open)) + ")";
}

std::string word(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kName:
      return variable(operand.text);
    case Operand::Kind::kType:
      return type(operand.text);
    case Operand::Kind::kDtype:
      return dtype_name(operand.text);
    case Operand::Kind::kString:
      return std::string(operand.text);
    default:
      return number(operand.text);
  }
}

std::string key_text(const KeyRow& row, std::string_view value) {
  switch (row.kind) {
    case KeyRow::Kind::kFlag:
      return value == "1" || value == "true" ? "true" : "false";
    case KeyRow::Kind::kInteger:
    case KeyRow::Kind::kNumber:
      return number(value);
    case KeyRow::Kind::kWord:
      return takes_dtype(row) ? dtype_name(value) : quoted(value);
    default:
      return "{" + std::string(value) + "}";
  }
}

// Appends the options of a call, ".axis = 1", in the order of the op's keys,
// and the keys that are arguments, ", 2", in theirs.
void keys_of(const Line& line, const Function& f, std::string& arguments,
             std::string& options) {
  for (const KeyParameter& key : f.op->keys) {
    const std::string_view* value = line.key(key.row->name);
    if (value == nullptr) continue;
    const std::string text = key_text(*key.row, *value);
    if (key.required) {
      arguments += ", " + (key.row->kind == KeyRow::Kind::kIntegers
                               ? "gt::List(" + text + ")"
                               : text);
    } else {
      options += (options.empty() ? "." : ", .") + std::string(key.row->name) +
                 " = " + text;
    }
  }
}

// Returns "gt::softmax(v_x, {.axis = 1})", or "v_x.softmax({.axis = 1})" as a
// method.
std::string call(const Line& line, const Function& f, bool as_method) {
  std::string operands;
  std::string list;  // the elements of a variadic operand
  size_t taken = 0;
  for (const Operand& operand : line.operands) {
    const size_t parameter = f.op->parameter_of(taken, line.operands.size());
    ++taken;
    if (as_method && taken == 1) continue;
    if (f.op->operands[parameter].variadic) {
      list += (list.empty() ? "" : ", ") + word(operand);
      continue;
    }
    if (!list.empty()) {
      operands += ", std::vector<gt::Tensor>{" + list + "}";
      list.clear();
    }
    operands += ", " + word(operand);
  }
  if (!list.empty()) operands += ", std::vector<gt::Tensor>{" + list + "}";
  std::string options;
  keys_of(line, f, operands, options);
  if (counts_parts(f)) {
    operands += ", " + std::to_string(line.results.size());
  }
  if (!options.empty()) operands += ", {" + options + "}";
  if (!operands.empty()) operands.erase(0, 2);
  const std::string head =
      as_method ? variable(line.operands[0].text) + "." : "gt::";
  return head + f.name + "(" + operands + ")";
}

// Returns the statement for a line whose op has no generated function; "" if
// this test has none for it.
std::string by_hand(const Line& line) {
  const Op* op = find_op(line.op);
  if (op == nullptr) return {};
  if (op->row->statement == Statement::kFree) {
    std::string out;
    for (const Operand& operand : line.operands) {
      out += "  " + variable(operand.text) + " = {};\n";
    }
    return out;
  }
  const std::string result =
      line.results.empty() ? "" : variable(line.results[0].text);
  if (line.op == "tensor") {
    std::string values;
    for (size_t i = 1; i < line.operands.size(); ++i) {
      values += (i > 1 ? ", " : "") + number(line.operands[i].text);
    }
    return "  " + result + " = made(" + type(line.operands[0].text) + ", {" +
           values + "});\n";
  }
  if (line.op == "slice" && line.keys.empty()) {
    std::string parts;
    for (size_t i = 1; i < line.operands.size(); ++i) {
      const Operand& part = line.operands[i];
      const bool is_range = part.kind == Operand::Kind::kRange;
      parts += (i > 1 ? ", " : "") +
               (is_range ? "range(" + quoted(part.text) + ")" : word(part));
    }
    return "  " + result + " = " + variable(line.operands[0].text) + "(" +
           parts + ");\n";
  }
  if (line.op == "slice") {
    const std::string_view* axis = line.key("axis");
    return "  " + result + " = " + variable(line.operands[0].text) + ".slice(" +
           word(line.operands[1]) + ", " + std::string(*line.key("size")) +
           ", " + (axis == nullptr ? "0" : std::string(*axis)) + ");\n";
  }
  return {};
}

std::string assigned(const Line& line, const Function& f,
                     const std::string& made) {
  if (line.results.size() == 1 && !has_variadic_result(f)) {
    return "  " + variable(line.results[0].text) + " = " + made + ";\n";
  }
  std::string out = "  {\n    const auto all = " + made + ";\n";
  for (size_t i = 0; i < line.results.size(); ++i) {
    out += "    " + variable(line.results[i].text) + " = all[" +
           std::to_string(i) + "];\n";
  }
  return out + "  }\n";
}

// Returns the body of the example's test; "" if a line of the example cannot be
// written in C++ here.
std::string body(const Example& example, bool as_method) {
  std::set<std::string> variables;
  std::string out;
  std::istringstream program(example.program);
  std::istringstream output(example.output);
  std::string text;
  bool has_method = false;
  while (std::getline(program, text)) {
    Line line;
    if (!parse_line(text, line).ok()) return {};
    if (line.kind != Line::Kind::kInstruction) continue;
    for (const Name& name : line.results) variables.insert(variable(name.text));
    const Op* op = find_op(line.op);
    if (op == nullptr) return {};
    if (op->row->statement == Statement::kPrint) {
      std::string expected;
      if (!std::getline(output, expected)) return {};
      out += "  expect(" + variable(line.operands[0].text) + ", " +
             quoted(expected.substr(expected.find("= ") + 2)) + ");\n";
      continue;
    }
    if (std::string hand = by_hand(line); !hand.empty()) {
      out += hand;
      continue;
    }
    if (!is_function(*op)) return {};
    const Function f = function_of(*op);
    const bool is_first_name =
        !line.operands.empty() && line.operands[0].kind == Operand::Kind::kName;
    const bool calls_method = as_method && is_method(f) && is_first_name;
    has_method = has_method || calls_method;
    out += assigned(line, f, call(line, f, calls_method));
  }
  if (as_method && !has_method) return {};
  std::string head;
  for (const std::string& name : variables)
    head += "  gt::Tensor " + name + ";\n";
  return head + out;
}

}  // namespace
}  // namespace gt::client

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ofstream out(argv[1]);
  out << "// Made from the op table.\n#include \"client/examples.h\"\n\n"
         "using namespace gt_test;\n\n";
  std::string left;
  for (const gt::Op& op : gt::all_ops()) {
    if (op.row->internal || op.row->needs_ranks()) continue;
    const gt::Example example = gt::example_of(*op.row);
    for (const bool as_method : {false, true}) {
      const std::string body = gt::client::body(example, as_method);
      if (body.empty()) {
        if (!as_method) left += " " + op.name;
        continue;
      }
      out << "TEST(" << (as_method ? "OpMethods" : "OpFunctions") << ", "
          << op.name << ") {\n"
          << body << "}\n\n";
    }
  }
  out << "// Those whose examples do more than a client's calls can.\n"
         "TEST(OpFunctions, WhatHasNoTestHere) {\n  EXPECT_EQ(std::string(\""
      << left << "\"), kUntested);\n}\n";
  return out.good() ? 0 : 2;
}
