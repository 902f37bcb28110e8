// Writes gt/methods.h and gt/ops.h, the ops of the C++ interface, from the op
// table: for each op that a client can use a function, a method and, where the
// result can take the operand's place, a form that binds its name again
// ("relu_"). So an op needs a row and nothing here.
//
// usage: gt-ops-header DIRECTORY
#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ops/catalog.h"
#include "ops/table.h"

namespace gt::client {
namespace {

// What a function's parameter is in C++.
struct Argument {
  std::string type;
  std::string name;
  std::string add;  // the statement that adds it to the call
  bool is_tensor = false;
  bool is_variadic = false;
  bool is_optional = false;
};

// One op as functions: the same for all of its forms.
struct Function {
  const Op* op = nullptr;
  std::string name;
  std::vector<Argument> operands;
  std::vector<Argument> required;    // keys without a default
  std::vector<std::string> options;  // members, "bool causal = false;"
  std::vector<std::string> writes;   // statements that write them
};

// The statements of the language that are no ops of a client, or that tensor.h
// writes by hand since their operands are of several kinds.
bool is_function(const Op& op) {
  static const std::set<std::string_view> by_hand = {"tensor", "slice"};
  const Row& row = *op.row;
  return !row.internal && !row.needs_ranks() &&
         (row.statement == Statement::kCompute ||
          row.statement == Statement::kLoad ||
          row.statement == Statement::kGrad) &&
         by_hand.count(op.name) == 0;
}

// The name in C++, where the language's is a word of C++.
std::string function_name(const std::string& op) {
  static const std::set<std::string_view> words = {"and", "or", "not"};
  return words.count(op) == 0 ? op : "logical_" + op;
}

std::string options_name(const std::string& function) {
  std::string out;
  bool is_upper = true;
  for (const char c : function) {
    if (c == '_') {
      is_upper = true;
    } else {
      out += is_upper ? static_cast<char>(std::toupper(c)) : c;
      is_upper = false;
    }
  }
  return out + "Options";
}

// Whether the operand may also be a number: its index term says so.
bool takes_number(const Op& op, size_t operand) {
  size_t term = 0;
  for (size_t i = 0; i < operand; ++i) {
    term += op.operands[i].role == Role::kTensor;
  }
  return term < op.operand_terms.size() &&
         op.operand_terms[term].letters.empty();
}

Argument operand_of(const Op& op, size_t i) {
  const Parameter& parameter = op.operands[i];
  Argument out;
  out.name = parameter.name;
  out.is_optional = parameter.optional;
  out.is_variadic = parameter.variadic;
  out.add = "call.add(" + out.name + ");";
  switch (parameter.role) {
    case Role::kTensor:
      out.is_tensor = true;
      out.type = parameter.variadic    ? "const std::vector<Tensor>&"
                 : takes_number(op, i) ? "const Input&"
                                       : "const Tensor&";
      break;
    case Role::kType:
      out.type = "const Type&";
      break;
    case Role::kDtype:
      out.type = "Dtype";
      break;
    case Role::kString:
      out.type = "const std::string&";
      out.add = "call.add_text(GT_STRING, " + out.name + ");";
      break;
    default:
      out.type = "const Input&";
  }
  return out;
}

// Keys that say how a line's pieces lie on ranks are a sharder's, not a user's.
bool is_for_ranks(const Op& op, const KeyParameter& key) {
  const std::string_view name = key.row->name;
  if (name == "split" || name == "part") return true;
  return name == "shape" && !key.required && op.key_index("part") >= 0;
}

std::string key_type(const KeyRow& row) {
  switch (row.kind) {
    case KeyRow::Kind::kFlag:
      return "bool";
    case KeyRow::Kind::kInteger:
      return "int64_t";
    case KeyRow::Kind::kNumber:
      return "double";
    case KeyRow::Kind::kIntegers:
      return "List";
    case KeyRow::Kind::kWord:
      return "std::string_view";
    default:
      return "List";  // transpose's axes
  }
}

std::string key_value(const KeyRow& row, const std::string& fallback) {
  switch (row.kind) {
    case KeyRow::Kind::kFlag:
      return fallback == "1" ? "true" : "false";
    case KeyRow::Kind::kWord:
      return "\"" + fallback + "\"";
    case KeyRow::Kind::kInteger:
    case KeyRow::Kind::kNumber:
      return fallback;
    default:
      return fallback.empty() ? "" : "{" + fallback + "}";
  }
}

void add_key(Function& f, const KeyParameter& key) {
  const KeyRow& row = *key.row;
  const std::string name = row.name;
  const std::string type = key_type(row);
  if (key.required) {
    const bool is_list = type == "List";
    f.required.push_back({is_list ? "const List&" : type, name,
                          "call.key(\"" + name + "\", " + name + ");"});
    return;
  }
  const std::string sense = "  // " + std::string(row.sense) + "\n";
  const std::string write = "call.key(\"" + name + "\", ";
  const std::string fallback = key_value(row, key.fallback);
  if (type == "List") {
    f.options.push_back(sense + "  List " + name +
                        (fallback.empty() ? "" : fallback) + ";\n");
    const std::string differs = fallback.empty()
                                    ? "!options." + name + ".empty()"
                                    : "options." + name + " != List" + fallback;
    f.writes.push_back("if (" + differs + ") " + write + "options." + name +
                       ");");
  } else if (key.fallback.empty()) {
    f.options.push_back(sense + "  std::optional<" + type + "> " + name +
                        ";\n");
    f.writes.push_back("if (options." + name + ") " + write + "*options." +
                       name + ");");
  } else {
    f.options.push_back(sense + "  " + type + " " + name + " = " + fallback +
                        ";\n");
    f.writes.push_back("if (options." + name + " != " + fallback + ") " +
                       write + "options." + name + ");");
  }
}

Function function_of(const Op& op) {
  Function out;
  out.op = &op;
  out.name = function_name(op.name);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    out.operands.push_back(operand_of(op, i));
  }
  for (const KeyParameter& key : op.keys) {
    if (!is_for_ranks(op, key)) add_key(out, key);
  }
  return out;
}

// ---- forms of a function ----------------------------------------------------

// A form with the first `optional` of its optional operands.
struct Form {
  const Function* function = nullptr;
  size_t optional = 0;
  bool is_method = false;  // its first operand is *this
  bool is_in_place = false;
};

std::vector<const Argument*> operands_of(const Form& form) {
  std::vector<const Argument*> out;
  size_t optional = form.optional;
  for (const Argument& operand : form.function->operands) {
    if (operand.is_optional && optional-- == 0) break;
    out.push_back(&operand);
  }
  // Those behind optional ones that are left out, as in "w g [v] lr".
  bool is_behind = false;
  for (const Argument& operand : form.function->operands) {
    const bool is_in = std::find(out.begin(), out.end(), &operand) != out.end();
    is_behind = is_behind || !is_in;
    if (is_behind && !is_in && !operand.is_optional) out.push_back(&operand);
  }
  return out;
}

// The results of a form: an optional one only with the operand of its name.
std::vector<std::string> results_of(const Form& form) {
  std::vector<std::string> out;
  const auto operands = operands_of(form);
  for (const Parameter& result : form.function->op->results) {
    const bool is_given =
        std::any_of(operands.begin(), operands.end(),
                    [&](const Argument* a) { return a->name == result.name; });
    if (!result.optional || is_given) out.push_back(result.name);
  }
  return out;
}

bool has_variadic_result(const Function& f) {
  return !f.op->results.empty() && f.op->results[0].variadic;
}

bool has_variadic_operand(const Function& f) {
  return std::any_of(f.operands.begin(), f.operands.end(),
                     [](const Argument& a) { return a.is_variadic; });
}

// As many results as `parts` says, since no operand does: split.
bool counts_parts(const Function& f) {
  return has_variadic_result(f) && !has_variadic_operand(f);
}

// Whether a result takes the place of the operand that it is named after, or
// of the first, whose shape it has.
std::vector<int> places_of(const Form& form) {
  const auto operands = operands_of(form);
  std::vector<int> out;
  for (const std::string& result : results_of(form)) {
    int place = -1;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_held = operands[i]->type == "const Tensor&" ||
                           operands[i]->type == "const Input&";
      if (operands[i]->name == result && is_held) place = static_cast<int>(i);
    }
    out.push_back(place);
  }
  const Op& op = *form.function->op;
  const bool is_alike =
      out.size() == 1 && out[0] < 0 && !operands.empty() &&
      operands[0]->is_tensor && !operands[0]->is_variadic &&
      !op.operand_terms.empty() && !op.result_terms.empty() &&
      op.operand_terms[0].letters == op.result_terms[0].letters &&
      op.operand_terms[0].broadcast == op.result_terms[0].broadcast &&
      std::string_view(op.row->dtype) != "bool" &&
      std::string_view(op.row->dtype) != "i64";
  if (is_alike) out[0] = 0;
  return out;
}

bool can_be_in_place(const Form& form) {
  const auto places = places_of(form);
  return !has_variadic_result(*form.function) && !places.empty() &&
         std::all_of(places.begin(), places.end(),
                     [](int place) { return place >= 0; });
}

std::string result_type(const Form& form) {
  if (form.is_in_place) return form.is_method ? "Tensor&" : "void";
  if (has_variadic_result(*form.function)) return "std::vector<Tensor>";
  const size_t count = results_of(form).size();
  return count == 1 ? "Tensor"
                    : "std::array<Tensor, " + std::to_string(count) + ">";
}

std::string parameters(const Form& form, bool has_defaults) {
  const Function& f = *form.function;
  std::string out;
  const auto add = [&out](const std::string& text) {
    out += (out.empty() ? "" : ", ") + text;
  };
  const auto operands = operands_of(form);
  const auto places = form.is_in_place ? places_of(form) : std::vector<int>();
  for (size_t i = form.is_method ? 1 : 0; i < operands.size(); ++i) {
    const bool is_bound = std::find(places.begin(), places.end(),
                                    static_cast<int>(i)) != places.end();
    add((is_bound ? "Tensor&" : operands[i]->type) + " " + operands[i]->name);
  }
  for (const Argument& key : f.required) add(key.type + " " + key.name);
  if (counts_parts(f)) add("size_t parts");
  if (!f.options.empty()) {
    add("const " + options_name(f.name) + "& options" +
        (has_defaults ? " = {}" : ""));
  }
  add(std::string("At at") + (has_defaults ? " = At::here()" : ""));
  return out;
}

std::string declared_name(const Form& form) {
  return form.function->name + (form.is_in_place ? "_" : "");
}

std::string body(const Form& form) {
  const Function& f = *form.function;
  const auto operands = operands_of(form);
  std::string out = "  detail::Call call(\"" + f.op->name + "\", at);\n";
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool is_self = form.is_method && i == 0;
    out += is_self ? "  call.add(self());\n" : "  " + operands[i]->add + "\n";
  }
  for (const Argument& key : f.required) out += "  " + key.add + "\n";
  for (const std::string& write : f.writes) out += "  " + write + "\n";
  if (form.is_in_place) {
    out += "  gt_value* const into[] = {";
    const auto places = places_of(form);
    for (size_t i = 0; i < places.size(); ++i) {
      const bool is_self = form.is_method && places[i] == 0;
      out += (i > 0 ? ", " : "") +
             (is_self ? "self()" : operands[places[i]]->name) + ".raw()";
    }
    out += "};\n  call.into(into);\n";
    out += "  call.run(" + std::to_string(places.size()) + ");\n";
    if (form.is_method) out += "  return self();\n";
    return out;
  }
  if (has_variadic_result(f)) {
    std::string count = "parts";
    for (const Argument* operand : operands) {
      if (operand->is_variadic) count = operand->name + ".size()";
    }
    return out + "  return call.run(" + count + ");\n";
  }
  const size_t count = results_of(form).size();
  if (count == 1) return out + "  return call.run();\n";
  out += "  std::vector<Tensor> made = call.run(" + std::to_string(count) +
         ");\n  return {";
  for (size_t i = 0; i < count; ++i) {
    out += (i > 0 ? ", " : "") + ("std::move(made[" + std::to_string(i)) + "])";
  }
  return out + "};\n";
}

std::vector<Form> forms_of(const Function& f, bool is_method) {
  std::vector<Form> out;
  const auto optional = static_cast<size_t>(
      std::count_if(f.operands.begin(), f.operands.end(),
                    [](const Argument& a) { return a.is_optional; }));
  for (size_t n = 0; n <= optional; ++n) {
    const Form form{&f, n, is_method, false};
    out.push_back(form);
    Form in_place = form;
    in_place.is_in_place = true;
    const bool is_bound_method =
        !is_method || (can_be_in_place(form) && places_of(form).size() == 1 &&
                       places_of(form)[0] == 0);
    if (can_be_in_place(form) && is_bound_method) out.push_back(in_place);
  }
  return out;
}

bool is_method(const Function& f) {
  return !f.operands.empty() && f.operands[0].is_tensor &&
         !f.operands[0].is_variadic && !f.operands[0].is_optional;
}

// ---- comments ---------------------------------------------------------------

std::string comment(const Function& f, const std::string& indent) {
  const Row& row = *f.op->row;
  std::string text = row.sense;
  if (*row.details != '\0') text += std::string(" ") + row.details;
  std::string out = indent + "// " + row.signature + "\n";
  const std::string lines =
      wrapped(text, 0) + "\n" +
      (*row.source == '\0' ? ""
                           : wrapped("Source: " + std::string(row.source), 0));
  std::string line;
  for (const char c : lines) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) out += indent + "// " + line + "\n";
    line.clear();
  }
  if (!line.empty()) out += indent + "// " + line + "\n";
  return out;
}

constexpr char kHead[] = R"(// Made from the op table; an op's row says it all.
#pragma once

)";

std::string methods_header(const std::vector<Function>& functions) {
  std::string out = kHead;
  out +=
      "#include <array>\n#include <optional>\n#include <string_view>\n"
      "#include <vector>\n\n#include <gt/basic.h>\n\n"
      "namespace gt::inline v1 {\n\n"
      "class Input;\nclass Tensor;\n\n";
  for (const Function& f : functions) {
    if (f.options.empty()) continue;
    out += "struct " + options_name(f.name) + " {\n";
    for (const std::string& option : f.options) out += option;
    out += "};\n";
  }
  out +=
      "\n// The ops as methods of their first operand. A method that ends in "
      "_ binds\n// the tensor's name to the result.\nclass Methods {\n "
      "public:\n";
  for (const Function& f : functions) {
    if (!is_method(f)) continue;
    out += comment(f, "  ");
    for (const Form& form : forms_of(f, true)) {
      out += "  " + result_type(form) + " " + declared_name(form) + "(" +
             parameters(form, true) + ")" + (form.is_in_place ? "" : " const") +
             ";\n";
    }
  }
  out +=
      "\n private:\n  const Tensor& self() const;\n  Tensor& self();\n};\n\n"
      "}  // namespace gt::inline v1\n";
  return out;
}

std::string ops_header(const std::vector<Function>& functions) {
  std::string out = kHead;
  out +=
      "#include <gt/tensor.h>\n\nnamespace gt::inline v1 {\n\n"
      "inline const Tensor& Methods::self() const {\n"
      "  return static_cast<const Tensor&>(*this);\n}\n"
      "inline Tensor& Methods::self() { return static_cast<Tensor&>(*this); "
      "}\n\n";
  for (const Function& f : functions) {
    out += comment(f, "");
    for (const Form& form : forms_of(f, false)) {
      out += "inline " + result_type(form) + " " + declared_name(form) + "(" +
             parameters(form, true) + ") {\n" + body(form) + "}\n";
    }
    if (!is_method(f)) continue;
    for (const Form& form : forms_of(f, true)) {
      out += "inline " + result_type(form) +
             " Methods::" + declared_name(form) + "(" +
             parameters(form, false) + ")" +
             (form.is_in_place ? "" : " const") + " {\n" + body(form) + "}\n";
    }
    out += "\n";
  }
  out += "}  // namespace gt::inline v1\n";
  return out;
}

}  // namespace
}  // namespace gt::client

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<gt::client::Function> functions;
  for (const gt::Op& op : gt::all_ops()) {
    if (gt::client::is_function(op)) {
      functions.push_back(gt::client::function_of(op));
    }
  }
  const std::string folder = argv[1];
  std::ofstream(folder + "/methods.h") << gt::client::methods_header(functions);
  std::ofstream ops(folder + "/ops.h");
  ops << gt::client::ops_header(functions);
  return ops.good() ? 0 : 2;
}
